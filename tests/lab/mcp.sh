#!/usr/bin/env bash
# Real MCP servers for tests, installed from their packages at fixed versions, kept under the target folder.
#
#   mcp.sh install    installs what is missing: a public server of the era with a handshake (npm), and the reference SDK
#                     for Python, which speaks the era without and serves tests/lab/mcp-garden.py
#   mcp.sh memory     prints the absolute path of the npm server's script; fails if it is not installed
#   mcp.sh python     prints the interpreter that has the SDK; fails if it is not installed
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${WORKAGENT_LAB_MCP:-${CARGO_TARGET_DIR:-$here/target}/lab-mcp}

MEMORY=2026.8.31
SDK=2.3.0

memory=$dir/memory-$MEMORY/node_modules/@modelcontextprotocol/server-memory/dist/index.js
python=$dir/sdk-$SDK/bin/python

die() { printf 'mcp.sh: %s\n' "$*" >&2; exit 1; }

packages() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null; }

install() {
  mkdir -p "$dir"
  if [ ! -e "$memory" ]; then
    command -v npm >/dev/null || packages npm || die "npm is needed"
    npm install --prefix "$dir/memory-$MEMORY" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
      "@modelcontextprotocol/server-memory@$MEMORY" >&2 || die "npm install failed"
  fi
  if ! "$python" -c 'import mcp.server' 2>/dev/null; then
    rm -rf "$dir/sdk-$SDK"
    python3 -m venv "$dir/sdk-$SDK" 2>/dev/null ||
      { packages python3-venv && python3 -m venv "$dir/sdk-$SDK"; } || die "python3 with venv is needed"
    "$dir/sdk-$SDK/bin/pip" install --quiet "mcp==$SDK" >&2 || die "pip install failed"
  fi
}

case ${1:-} in
  install) install ;;
  memory) [ -e "$memory" ] && printf '%s\n' "$memory" ;;
  python) [ -e "$python" ] && printf '%s\n' "$python" ;;
  *) die "install, memory or python?" ;;
esac
