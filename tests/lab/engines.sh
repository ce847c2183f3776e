#!/usr/bin/env bash
# Real agent CLIs for tests, installed from their packages at fixed versions, kept under the target folder.
#
#   engines.sh install NAME…    installs what is missing of: claude codex gemini opencode
#   engines.sh path NAME        prints the program's absolute path; fails if it is not installed
#
# gemini and opencode are large and slow to fetch: tests use them where they are installed and say so where they are not.
#
# The vendors' native binaries are taken from their platform packages: the packages that users install are small
# programs for Node around them, which add a process and whose install scripts are often blocked. Versions are the ones
# whose output tests/fixtures/engines was recorded from.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${WORKAGENT_LAB_ENGINES:-${CARGO_TARGET_DIR:-$here/target}/lab-engines}

CLAUDE=2.1.332
CODEX=0.171.0
GEMINI=0.61.0
OPENCODE=1.18.33

die() { printf 'engines.sh: %s\n' "$*" >&2; exit 1; }

# As the packages spell the machine.
machine() {
  local system cpu
  case $(uname -s) in Linux) system=linux ;; Darwin) system=darwin ;; *) die "no packages for $(uname -s)" ;; esac
  case $(uname -m) in x86_64 | amd64) cpu=x64 ;; aarch64 | arm64) cpu=arm64 ;; *) die "no packages for $(uname -m)" ;; esac
  printf '%s-%s' $system $cpu
}

# npm_install NAME PACKAGE@VERSION…: into a folder of its own, which appears only when it is whole.
npm_install() {
  local name=$1 new
  shift
  command -v npm >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install npm >/dev/null ||
    die "npm is needed to install $name"
  mkdir -p "$dir"
  new=$(mktemp -d "$dir/.$name.XXXXXX")
  if ! npm install --prefix "$new" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "$@" >&2; then
    rm -rf "$new"
    die "npm install $* failed"
  fi
  rm -rf "${dir:?}/$name"
  mv "$new" "$dir/$name"
}

# Where the program of NAME is once installed. A new version is a new folder.
folder() {
  case $1 in
    claude) printf 'claude-%s' $CLAUDE ;;
    codex) printf 'codex-%s' $CODEX ;;
    gemini) printf 'gemini-%s' $GEMINI ;;
    opencode) printf 'opencode-%s' $OPENCODE ;;
    *) die "unknown engine $1" ;;
  esac
}

program() {
  local root=$dir/$(folder "$1")/node_modules found
  case $1 in
    claude) found=$root/@anthropic-ai/claude-code-$(machine)/claude ;;
    codex) found=$(echo "$root"/@openai/codex/vendor/*/bin/codex) ;;
    gemini) found=$root/.bin/gemini ;;
    opencode) found=$root/opencode-$(machine)/bin/opencode ;;
  esac
  [ -x "$found" ] && printf '%s\n' "$found"
}

install_one() {
  program "$1" >/dev/null && return 0
  case $1 in
    claude) npm_install "$(folder claude)" "@anthropic-ai/claude-code-$(machine)@$CLAUDE" ;;
    codex) npm_install "$(folder codex)" "@openai/codex@$CODEX-$(machine)" ;;
    gemini) npm_install "$(folder gemini)" "@google/gemini-cli@$GEMINI" ;;
    opencode) npm_install "$(folder opencode)" "opencode-$(machine)@$OPENCODE" ;;
  esac
  program "$1" >/dev/null || die "$1 was installed, but its program is not where it was at other times"
}

case ${1-} in
  install)
    shift
    for name in "$@"; do install_one "$name"; done
    ;;
  path) program "${2-}" || die "$2 is not installed: bash tests/lab/engines.sh install $2" ;;
  *) die "usage: engines.sh install NAME… | path NAME" ;;
esac
