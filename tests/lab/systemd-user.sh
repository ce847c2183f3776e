#!/bin/bash
# A real per-user systemd manager (`systemd --user`) for tests, without systemd as pid 1: under an ordinary user with a
# space in the name of its home, in the control group that a login would give it, so that `journalctl --user -u` works.
#
#   systemd-user.sh install   installs systemd and a session bus from Debian's packages
#   systemd-user.sh run DIR   starts it, prints facts as KEY=VALUE and a line "ready", and takes everything away again when
#                             standard input ends. Needs root, a running journald (journald.sh) and control groups to
#                             write in
set -u
NAME=workagent-lab
CGROUPS=/sys/fs/cgroup

die() { printf 'systemd-user.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  local missing=() package policy=/usr/sbin/policy-rc.d made=0
  for package in systemd dbus dbus-user-session util-linux passwd; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  # Nothing is to start by itself during the install: there is no init here.
  [ -e $policy ] || { printf '#!/bin/sh\nexit 101\n' >$policy; chmod +x $policy; made=1; }
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 --no-install-recommends \
    install "${missing[@]}" >/dev/null
  local code=$?
  [ $made = 1 ] && rm -f $policy
  return $code
}

as_user() {
  setpriv --reuid "$ID" --regid "$GID" --init-groups env -i HOME="$HOME_DIR" USER=$NAME LOGNAME=$NAME SHELL=/bin/bash \
    PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 XDG_RUNTIME_DIR="/run/user/$ID" \
    DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$ID/bus" "$@"
}

groups_of_user() {
  local root
  for root in "${roots[@]}"; do printf '%s\n' "$root/user.slice/user-$ID.slice"; done
}

clean_up() {
  [ -n "${ID:-}" ] || return 0
  as_user timeout 20 systemctl --user exit >/dev/null 2>&1
  local group pid
  for _ in $(seq 50); do kill -0 "${manager:-0}" 2>/dev/null || break; sleep 0.1; done
  # Whatever is left in the user's own groups is the user's, and is nobody's any more.
  while read -r group; do
    for _ in $(seq 20); do
      local left=0
      while read -r pid; do kill -9 "$pid" 2>/dev/null; left=1; done \
        < <(find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null)
      [ $left = 0 ] && break
      sleep 0.1
    done
    find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
  done < <(groups_of_user)
  [ "${booted:-0}" = 1 ] && rmdir /run/systemd/system 2>/dev/null
  rm -rf "/run/user/$ID" "$HOME_DIR"
  rm -f "/var/lib/systemd/linger/$NAME"
  userdel $NAME 2>/dev/null
}

do_run() {
  local root path state
  [ -S /run/systemd/journal/socket ] || die "no journald runs"
  HOME_DIR=$(mktemp -d "/var/tmp/workagent lab.XXXXXX") || die "no home"
  # Of a run that was killed.
  id $NAME >/dev/null 2>&1 && { userdel --force $NAME || die "the user $NAME of an earlier run is still there"; }
  useradd --no-create-home --home-dir "$HOME_DIR" --shell /bin/bash $NAME || die "useradd"
  ID=$(id -u $NAME) GID=$(id -g $NAME)
  roots=()
  if [ -f $CGROUPS/cgroup.controllers ]; then roots=($CGROUPS); else
    for root in $CGROUPS/unified $CGROUPS/systemd; do [ -d $root ] && roots+=($root); done
  fi
  [ ${#roots[@]} -gt 0 ] || die "no control groups"
  trap clean_up EXIT
  chown "$NAME:" "$HOME_DIR" && chmod 700 "$HOME_DIR"
  mkdir -p "/run/user/$ID" && chown "$NAME:" "/run/user/$ID" && chmod 700 "/run/user/$ID"
  rm -rf "/run/user/$ID/systemd" "/run/user/$ID/bus"
  path=user.slice/user-$ID.slice/user@$ID.service
  for root in "${roots[@]}"; do
    mkdir -p "$root/$path/init.scope" || die "control groups cannot be written in"
    chown -R "$NAME:" "$root/$path"
  done
  # `systemd --user` wants a booted system, by which it means this folder.
  booted=0
  [ -d /run/systemd/system ] || { mkdir -p /run/systemd/system; booted=1; }
  # What pid 1 makes, and services with a file system of their own need.
  mkdir -p /run/systemd/unit-root /run/systemd/inaccessible
  (
    for root in "${roots[@]}"; do echo $BASHPID >"$root/$path/init.scope/cgroup.procs"; done
    cd /
    exec setpriv --reuid "$ID" --regid "$GID" --init-groups env -i HOME="$HOME_DIR" USER=$NAME LOGNAME=$NAME \
      SHELL=/bin/bash LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin XDG_RUNTIME_DIR="/run/user/$ID" \
      DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$ID/bus" /lib/systemd/systemd --user
  ) >"$1/manager.log" 2>&1 </dev/null &
  manager=$!
  for _ in $(seq 200); do [ -S "/run/user/$ID/systemd/private" ] && break; sleep 0.1; done
  for _ in $(seq 100); do
    state=$(as_user timeout 30 systemctl --user is-system-running 2>/dev/null)
    case "$state" in running | degraded) break ;; esac
    sleep 0.2
  done
  case "$state" in running | degraded) ;; *) die "the manager is '$state': $(tail -3 "$1/manager.log")" ;; esac
  printf 'NAME=%s\nID=%s\nGID=%s\nHOME=%s\nready\n' $NAME "$ID" "$GID" "$HOME_DIR"
  cat >/dev/null
}

case "${1:-}" in
  install) do_install ;;
  run) [ -d "${2:-}" ] || die "run DIR"; do_run "$2" ;;
  *) echo "usage: $0 install | run DIR" >&2; exit 2 ;;
esac
