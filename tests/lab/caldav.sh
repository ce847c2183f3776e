#!/bin/bash
# A real calendar server on loopback for tests: Radicale, from PyPI.
#
#   caldav.sh install   installs Radicale into target/lab (or $WORKAGENT_LAB_CACHE), once; seconds
#   caldav.sh run DIR   starts it in DIR, prints facts as KEY=VALUE and a line "ready", and stops it when standard
#                       input ends, so that nothing outlives the test that started it
#
# The users kim1 to kim9 have one password, made at start.
set -u
VERSION=3.9.0
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
HOME_DIR=${WORKAGENT_LAB_CACHE:-$ROOT/target/lab}/radicale-$VERSION

die() { printf 'caldav.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  [ -e "$HOME_DIR/.whole" ] && return 0
  rm -rf "$HOME_DIR" && mkdir -p "$HOME_DIR" || die "cannot make $HOME_DIR"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --target "$HOME_DIR" "radicale==$VERSION" 2>"$HOME_DIR/.log" ||
    die "installing Radicale failed: $(tail -3 "$HOME_DIR/.log")"
  touch "$HOME_DIR/.whole"
}

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

free_port() {
  local port try
  for try in $(seq 50); do
    port=$((20000 + RANDOM % 12000))
    is_open $port || { printf '%s' $port; return 0; }
  done
  die "no free port"
}

do_run() {
  local port password user
  DIR=$1
  [ -e "$HOME_DIR/.whole" ] || die "Radicale is not installed: bash tests/lab/caldav.sh install"
  mkdir -p "$DIR/data" && cd "$DIR" || die "cannot use $DIR"
  port=$(free_port)
  password=$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')
  for user in 1 2 3 4 5 6 7 8 9; do printf 'kim%s:%s\n' $user "$password"; done >users
  printf '%s\n' '[server]' "hosts = 127.0.0.1:$port" '[auth]' 'type = htpasswd' "htpasswd_filename = $DIR/users" \
    'htpasswd_encryption = plain' 'delay = 0' '[storage]' "filesystem_folder = $DIR/data" '[rights]' \
    'type = owner_only' >config
  PYTHONPATH=$HOME_DIR python3 -m radicale --config "$DIR/config" >radicale.log 2>&1 </dev/null &
  PID=$!
  trap 'kill $PID 2>/dev/null; wait $PID 2>/dev/null; rm -rf "$DIR"' EXIT
  for _ in $(seq 300); do
    is_open "$port" && break
    kill -0 $PID 2>/dev/null || die "Radicale ended: $(tail -3 radicale.log)"
    sleep 0.1
  done
  is_open "$port" || die "Radicale did not start"
  printf 'URL=http://127.0.0.1:%s\nPASSWORD=%s\nready\n' "$port" "$password"
  cat >/dev/null
}

case "${1:-}" in
  install) do_install ;;
  run) [ -n "${2:-}" ] || die "run needs a directory"; do_run "$2" ;;
  *) die "install | run DIR" ;;
esac
