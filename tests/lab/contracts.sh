#!/usr/bin/env bash
# Descriptions of APIs that their vendors publish in packages, as servers that hold requests against them.
#
#   contracts.sh install            fetches the packages, at fixed versions, under the target folder
#   contracts.sh serve linear       Linear's schema out of @linear/sdk; prints a URL, ends with its standard input
#   contracts.sh serve slack        arguments of Slack's methods out of @slack/web-api, checked by TypeScript
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${CARGO_TARGET_DIR:-$here/target}/lab-contracts

die() { printf 'contracts.sh: %s\n' "$*" >&2; exit 1; }

case ${1-} in
install)
  command -v node >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm >/dev/null
  mkdir -p "$dir"
  cd "$dir"
  [ -f package.json ] || echo '{"private":true}' >package.json
  npm install --silent --no-audit --no-fund --save-exact graphql@16.11.0 @linear/sdk@98.0.0 \
    typescript@5.9.3 @slack/web-api@8.2.0 @types/node@22
  ;;
serve)
  [ -d "$dir/node_modules" ] || die "nothing is installed; run: contracts.sh install"
  exec node "$here/tests/lab/${2-}-server.mjs" "$dir"
  ;;
*) die "install, or serve linear|slack" ;;
esac
