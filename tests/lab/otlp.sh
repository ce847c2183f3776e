#!/bin/bash
# What a collector is sent, read by OpenTelemetry's own message definitions (opentelemetry-proto, from PyPI).
#
#   otlp.sh install        installs them into target/lab (or $WORKAGENT_LAB_CACHE), once; seconds
#   otlp.sh read           reads lines `PATH BODY` from standard input; prints `PATH COUNT` for each that is what the
#                          definitions say, and ends with 1 at the first that is not
set -u
VERSION=1.45.2
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
HOME_DIR=${WORKAGENT_LAB_CACHE:-$ROOT/target/lab}/otlp-$VERSION

die() { printf 'otlp.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  [ -e "$HOME_DIR/.whole" ] && return 0
  rm -rf "$HOME_DIR" && mkdir -p "$HOME_DIR" || die "cannot make $HOME_DIR"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --target "$HOME_DIR" "opentelemetry-proto==$VERSION" 2>"$HOME_DIR/.log" ||
    die "installing opentelemetry-proto failed: $(tail -3 "$HOME_DIR/.log")"
  touch "$HOME_DIR/.whole"
}

do_read() {
  [ -e "$HOME_DIR/.whole" ] || die "opentelemetry-proto is not installed: bash tests/lab/otlp.sh install"
  PYTHONPATH=$HOME_DIR python3 -c '
import sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

for line in sys.stdin:
    path, body = line.split(" ", 1)
    if path == "/v1/logs":
        # Ids are hex digits in OTLP, and base64 to this reader: their digits and lengths are for the caller to check.
        read = json_format.Parse(body, ExportLogsServiceRequest())
        count = sum(len(s.log_records) for r in read.resource_logs for s in r.scope_logs)
    else:
        read = json_format.Parse(body, ExportTraceServiceRequest())
        count = sum(len(s.spans) for r in read.resource_spans for s in r.scope_spans)
    print(path, count)
'
}

case "${1:-}" in
  install) do_install ;;
  read) do_read ;;
  *) die "install or read" ;;
esac
