#!/usr/bin/env bash
# A real Chromium without a window, driven by playwright-core, with axe-core to judge what it shows.
#
#   browser.sh install       Debian's browser, and the two packages at fixed versions in target/lab (or $WORKAGENT_LAB_CACHE)
#   browser.sh page FOLDER   takes a login link of the page from standard input, decides on every draft, puts screenshots
#                            in FOLDER and prints what was seen as one line of JSON
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${WORKAGENT_LAB_CACHE:-$here/target/lab}/browser

PLAYWRIGHT=1.65.1
AXE=4.14.1

die() { printf 'browser.sh: %s\n' "$*" >&2; exit 1; }

packages() { DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null; }

has() { [ "$(node -p "require('$dir/node_modules/$1/package.json').version" 2>/dev/null)" = "$2" ]; }

case ${1-} in
install)
  command -v npm >/dev/null || packages nodejs npm
  command -v chromium >/dev/null || packages chromium fonts-dejavu-core
  if ! has playwright-core "$PLAYWRIGHT" || ! has axe-core "$AXE"; then
    mkdir -p "$dir"
    cd "$dir"
    [ -f package.json ] || echo '{"private":true}' >package.json
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --silent --ignore-scripts --no-audit --no-fund --save-exact \
      "playwright-core@$PLAYWRIGHT" "axe-core@$AXE"
  fi
  ;;
page)
  [ -n "${2-}" ] || die "page FOLDER"
  has playwright-core "$PLAYWRIGHT" && has axe-core "$AXE" || die "nothing is installed; run: browser.sh install"
  mkdir -p "$2"
  exec timeout 300 node "$here/tests/lab/browser-page.mjs" "$dir" "$2"
  ;;
*) die "install, or page FOLDER" ;;
esac
