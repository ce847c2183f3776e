#!/bin/bash
# launchd agents off macOS: no launchd runs here, so independent readers look at the file, and launchd-check.py, made after
# launchd.plist(5), at its keys and their types.
#
#   launchd.sh install     installs the readers from Debian's packages
#   launchd.sh lint FILE   says what is wrong, and ends with 1 if anything is
set -u
HERE=$(cd "$(dirname "$0")" && pwd)

do_install() {
  local missing=() package
  for package in libplist-utils libxml2-utils python3; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=600 --no-install-recommends \
    install "${missing[@]}" >/dev/null
}

do_lint() {
  local code=0 scratch
  scratch=$(mktemp)
  xmllint --noout "$1" || code=1
  plistutil -i "$1" -f bin -o "$scratch" && [ -s "$scratch" ] || { echo "plistutil does not read it"; code=1; }
  python3 "$HERE/launchd-check.py" "$1" || code=1
  rm -f "$scratch"
  return $code
}

case "${1:-}" in
  install) do_install ;;
  lint) do_lint "${2:?FILE}" ;;
  *) echo "usage: $0 install | lint FILE" >&2; exit 2 ;;
esac
