#!/usr/bin/env bash
# The Debian package in a user's hands: installed on this machine, started by `systemctl --user` of a real manager under an
# ordinary user, edited, reloaded, killed, refused, and taken away again. Takes the machine's packages and needs root.
# Usage: bash tests/lab/package-service.sh run   after: package.sh build, systemd-user.sh install
set -euo pipefail
[ "${1:-}" = run ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
cd "$(dirname "$0")/../.."
deb=$PWD/target/debian/workagent.deb
lab=${WORKAGENT_LAB_DIR:-$PWD/target/lab}/package-service
fds=()

die() { printf 'package-service.sh: %s\n' "$*" >&2; exit 1; }
dpkg-query -W workagent >/dev/null 2>&1 && die "workagent is installed here already: this would take it away"

clean_up() {
  dpkg-query -W workagent >/dev/null 2>&1 && dpkg --purge workagent >/dev/null 2>&1
  local fd
  for fd in "${fds[@]}"; do exec {fd}>&-; done
  wait
}
trap clean_up EXIT

# Waits at most a minute for a condition, and says for what.
until_so() {
  local what=$1
  shift
  for _ in $(seq 600); do "$@" && return 0; sleep 0.1; done
  user journalctl --user -u workagent -n 20 --no-pager >&2 || true
  die "waited in vain for $what"
}

# A server of the lab: it says `ready`, and ends when its standard input does.
begin() {
  local name=$1 fd
  shift
  rm -f "$lab/$name.in" && mkfifo "$lab/$name.in"
  : >"$lab/$name.out"
  bash "tests/lab/$name.sh" run "$@" <"$lab/$name.in" >"$lab/$name.out" 2>"$lab/$name.err" &
  exec {fd}>"$lab/$name.in"
  fds=("$fd" "${fds[@]}")
  until_so "$name: $(cat "$lab/$name.err")" grep -qx ready "$lab/$name.out"
}

fact() { sed -n "s/^$1=//p" "$lab/systemd-user.out"; }

user() {
  setpriv --reuid "$id" --regid "$gid" --init-groups env -i HOME="$home" USER="$name" LOGNAME="$name" SHELL=/bin/bash \
    PATH=/usr/bin:/bin LANG=C.UTF-8 XDG_RUNTIME_DIR="/run/user/$id" \
    DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$id/bus" "$@"
}
manage() { user systemctl --user "$@"; }
property() { manage show workagent -p "$1" --value; }
is_active() { [ "$(property ActiveState)" = active ]; }
is_anew() { is_active && [ "$(property MainPID)" != "$1" ]; }
has_failed() { [ "$(property ActiveState)" = failed ]; }
answered() { ls "$home/answers/"* >/dev/null 2>&1; }
unit() { user sh -c 'mkdir -p ~/.config/workagent/units && cat >~/.config/workagent/units/"$1"' sh "$1"; }

mkdir -p "$lab"
begin journald
begin systemd-user "$lab"
id=$(fact ID) gid=$(fact GID) home=$(fact HOME) name=$(fact NAME)

dpkg -i "$deb" >"$lab/dpkg.log"
manage daemon-reload
user mkdir "$home/notes" "$home/answers"
unit notes.connector.toml <<'X'
[connector]
platform = "directory"
outbound = "auto"
backlog = "all"
hold = "0s"
[directory]
path = "%h/notes"
out = "%h/answers"
settle = "0s"
[schedule]
every = "1s"
[install]
enabled = true
X
unit polite.engine.toml <<'X'
[engine]
engine = "template"
[template]
text = "Thank you for {{ title }}."
[install]
enabled = true
X
unit notes.route.toml <<'X'
[route]
engines = ["polite"]
[match]
connector = ["notes"]
[install]
enabled = true
X

manage start workagent
is_active || die "not active after a start"
[ "$(property FragmentPath)" = /usr/lib/systemd/user/workagent.service ] || die "not the package's file: $(property FragmentPath)"
user sh -c 'printf "Title: Hello\n\nPlease answer.\n" >~/notes/a.txt'
until_so "an answer" answered
echo "started by the package's unit, and it works"

user sed -i 's/Thank you/Many thanks/' "$home/.config/workagent/units/polite.engine.toml"
manage reload workagent
user workagent show polite.engine | grep -q 'Many thanks' || die "the edit is not live after the reload"
user sed -i 's/"template"/"no-such"/' "$home/.config/workagent/units/polite.engine.toml"
manage reload workagent 2>/dev/null && die "a wrong edit was taken"
is_active || die "a wrong edit ended the service"
user sed -i 's/"no-such"/"template"/' "$home/.config/workagent/units/polite.engine.toml"
manage reload workagent
echo "reloaded, and a wrong edit was refused"

pid=$(property MainPID)
kill -9 "$pid"
until_so "a new process after kill -9" is_anew "$pid"
[ "$(property NRestarts)" = 1 ] || die "restarts: $(property NRestarts)"
user workagent doctor | grep -q 'when you log out the service ends' || die "doctor does not say that a logout ends it"
journalctl --sync
user journalctl --user -u workagent -o json --no-pager >"$lab/journal.json"
for field in '"UNIT":"notes' '"CASE":"c1"' '"GENERATION":"'; do
  grep -q "$field" "$lab/journal.json" || die "the journal has no field $field"
done
echo "killed and begun anew; the journal has its fields"

printf '[daemon]\nworkers = "many"\n' | unit workagent.daemon.toml
user rm -rf "$home/.local/state/workagent"
manage restart workagent 2>/dev/null && die "it started with a wrong configuration"
until_so "the service to have failed" has_failed
[ "$(property ExecMainStatus) $(property NRestarts)" = "78 0" ] || die "not ended by 78: $(property ExecMainStatus)"
echo "a wrong configuration is exit code 78, and no restart"

user rm "$home/.config/workagent/units/workagent.daemon.toml"
manage reset-failed workagent
manage start workagent
manage stop workagent
[ "$(property Result)" = success ] || die "the stop: $(property Result)"
dpkg --purge workagent >>"$lab/dpkg.log" 2>&1
manage daemon-reload
[ "$(property LoadState)" = not-found ] || die "the unit is still there: $(property LoadState)"
[ -f "$home/.config/workagent/units/notes.connector.toml" ] || die "the user's units went with the package"
echo "stopped, and removed; the user's units stay"
