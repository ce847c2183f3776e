#!/bin/bash
# A real Matrix homeserver on loopback for tests: Synapse on SQLite, from PyPI.
#
#   matrix.sh install   installs Synapse into target/lab (or $WORKAGENT_LAB_CACHE), once; a minute
#   matrix.sh run DIR   starts it in DIR, prints facts as KEY=VALUE and a line "ready", and stops it when standard
#                       input ends, so that nothing outlives the test that started it
#
# Anybody may register. A user may send 90 messages at once, then one a second.
set -u
VERSION=1.163.2
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
HOME_DIR=${WORKAGENT_LAB_CACHE:-$ROOT/target/lab}/synapse-$VERSION

die() { printf 'matrix.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  [ -e "$HOME_DIR/.whole" ] && return 0
  rm -rf "$HOME_DIR" && mkdir -p "$HOME_DIR" || die "cannot make $HOME_DIR"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$HOME_DIR" \
    "matrix-synapse==$VERSION" 2>"$HOME_DIR/.log" || die "installing Synapse failed: $(tail -3 "$HOME_DIR/.log")"
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
  local port
  DIR=$1
  [ -e "$HOME_DIR/.whole" ] || die "Synapse is not installed: bash tests/lab/matrix.sh install"
  mkdir -p "$DIR/media" && cd "$DIR" || die "cannot use $DIR"
  port=$(free_port)
  cat >homeserver.yaml <<X
server_name: lab.test
pid_file: $DIR/homeserver.pid
report_stats: false
database: {name: sqlite3, args: {database: $DIR/homeserver.db}}
listeners: [{port: $port, bind_addresses: ["127.0.0.1"], type: http, tls: false, resources: [{names: [client], compress: false}]}]
log_config: $DIR/log.yaml
media_store_path: $DIR/media
signing_key_path: $DIR/signing.key
macaroon_secret_key: only-for-tests
form_secret: only-for-tests
trusted_key_servers: []
federation_domain_whitelist: []
enable_registration: true
enable_registration_without_verification: true
allow_public_rooms_over_federation: false
presence: {enabled: false}
rc_registration: {per_second: 1000, burst_count: 1000}
rc_login: {address: {per_second: 1000, burst_count: 1000}, account: {per_second: 1000, burst_count: 1000}}
rc_joins: {local: {per_second: 1000, burst_count: 1000}}
rc_invites: {per_room: {per_second: 1000, burst_count: 1000}, per_user: {per_second: 1000, burst_count: 1000}, per_issuer: {per_second: 1000, burst_count: 1000}}
rc_room_creation: {per_second: 1000, burst_count: 1000}
rc_message: {per_second: 1, burst_count: 90}
X
  printf '%s\n' 'version: 1' 'formatters: {p: {format: "%(asctime)s %(levelname)s %(name)s %(message)s"}}' \
    "handlers: {f: {class: logging.FileHandler, filename: $DIR/homeserver.log, formatter: p}}" \
    'root: {level: WARNING, handlers: [f]}' >log.yaml
  export PYTHONPATH=$HOME_DIR
  python3 -m synapse.app.homeserver --config-path homeserver.yaml --generate-keys >keys.log 2>&1 ||
    die "making keys failed: $(tail -3 keys.log)"
  python3 -m synapse.app.homeserver --config-path homeserver.yaml >start.log 2>&1 </dev/null &
  PID=$!
  trap 'kill $PID 2>/dev/null; wait $PID 2>/dev/null; rm -rf "$DIR"' EXIT
  for _ in $(seq 600); do
    is_open "$port" && break
    kill -0 $PID 2>/dev/null || die "Synapse ended: $(tail -3 start.log homeserver.log 2>/dev/null)"
    sleep 0.1
  done
  is_open "$port" || die "Synapse did not start"
  printf 'URL=http://127.0.0.1:%s\nready\n' "$port"
  cat >/dev/null
}

case "${1:-}" in
  install) do_install ;;
  run) [ -n "${2:-}" ] || die "run needs a directory"; do_run "$2" ;;
  *) die "install | run DIR" ;;
esac
