#!/bin/bash
# A real Secret Service on a private session bus for tests: gnome-keyring, without a desktop.
#
#   secret-service.sh install   installs gnome-keyring and dbus (Debian packages; root)
#   secret-service.sh run DIR   starts both in DIR, prints facts as KEY=VALUE and a line "ready"; then does what standard
#                               input says, one word a line, and answers each with "done". It stops both when standard
#                               input ends, so that nothing outlives the test that started it
#
# Words: lock, unlock (the keyring is started anew with its password), wrong (the same with a wrong one), keyring-stop,
# bus-stop (and with it the keyring), bus-start (without a keyring).
set -u
PASSWORD=lab-keyring

die() { printf 'secret-service.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  command -v gnome-keyring-daemon >/dev/null && command -v dbus-daemon >/dev/null && command -v dbus-send >/dev/null &&
    return 0
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends \
    gnome-keyring dbus >/dev/null || die "installing gnome-keyring failed"
}

BUS= KEYRING=

bus_start() {
  rm -f "$DIR/run/bus"
  # Without the system's service files: nobody starts a keyring that the test has not asked for.
  printf '%s\n' '<busconfig><type>session</type>' "<listen>$DBUS_SESSION_BUS_ADDRESS</listen>" '<auth>EXTERNAL</auth>' \
    '<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>' \
    '<allow own="*"/></policy></busconfig>' >"$DIR/bus.conf"
  dbus-daemon --config-file="$DIR/bus.conf" --nofork --nopidfile </dev/null >>"$DIR/bus.log" 2>&1 &
  BUS=$!
  for _ in $(seq 300); do [ -S "$DIR/run/bus" ] && return 0; sleep 0.1; done
  die "the bus did not start: $(tail -3 "$DIR/bus.log")"
}

has_service() {
  dbus-send --session --print-reply --dest=org.freedesktop.DBus /org/freedesktop/DBus \
    org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null | grep -q 'boolean true'
}

keyring_start() {
  printf '%s' "$1" | gnome-keyring-daemon --foreground --unlock --components=secrets >>"$DIR/keyring.log" 2>&1 &
  KEYRING=$!
  for _ in $(seq 300); do has_service && return 0; sleep 0.1; done
  die "the keyring did not start: $(tail -3 "$DIR/keyring.log")"
}

end() { [ -n "$1" ] && kill "$1" 2>/dev/null && wait "$1" 2>/dev/null; return 0; }

keyring_stop() {
  end "$KEYRING"
  KEYRING=
  for _ in $(seq 100); do has_service || return 0; sleep 0.1; done
}

lock() {
  dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
    org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null
}

do_run() {
  DIR=$1
  command -v gnome-keyring-daemon >/dev/null ||
    die "gnome-keyring is not installed: bash tests/lab/secret-service.sh install"
  mkdir -p "$DIR/home/.local/share/keyrings" "$DIR/run" && chmod 700 "$DIR/run" || die "cannot use $DIR"
  # What the first start makes is the default from then on.
  printf login >"$DIR/home/.local/share/keyrings/default"
  export HOME=$DIR/home XDG_RUNTIME_DIR=$DIR/run XDG_DATA_HOME=$DIR/home/.local/share
  export DBUS_SESSION_BUS_ADDRESS=unix:path=$DIR/run/bus
  unset DISPLAY WAYLAND_DISPLAY
  trap 'end "$KEYRING"; end "$BUS"; rm -rf "$DIR"' EXIT
  bus_start
  keyring_start "$PASSWORD"
  printf 'BUS=%s\nFILES=%s\nready\n' "$DBUS_SESSION_BUS_ADDRESS" "$DIR/home/.local/share/keyrings"
  while read -r word; do
    case "$word" in
      lock) lock || die "cannot lock" ;;
      unlock) keyring_stop; keyring_start "$PASSWORD" ;;
      wrong) keyring_stop; keyring_start wrong ;;
      keyring-stop) keyring_stop ;;
      bus-stop) keyring_stop; end "$BUS"; BUS=; rm -f "$DIR/run/bus" ;;
      bus-start) bus_start ;;
      *) die "unknown word $word" ;;
    esac
    printf 'done\n'
  done
}

case "${1:-}" in
  install) do_install ;;
  run) [ $# -eq 2 ] || die "run needs a directory"; do_run "$2" ;;
  *) printf 'usage: %s install | run DIR\n' "$0" >&2; exit 2 ;;
esac
