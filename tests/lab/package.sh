#!/usr/bin/env bash
# The Debian package: built from the release binary, built again the same to the byte, linted, installed in a fresh root,
# used there as a new user would, and removed without a trace. The other packages' files are read by their own tools.
# Usage: bash tests/lab/package.sh install | build | lint | try | all
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=${WORKAGENT_CI_TOOLS:-$PWD/target/ci-tools}
lab=${WORKAGENT_LAB_DIR:-$PWD/target/lab}/package
out=$PWD/target/debian
base=$lab/base.tar
export SOURCE_DATE_EPOCH=1796083200

get_tools() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap lintian nix-bin ruby >/dev/null
  [ -x "$tools/bin/cargo-deb" ] || cargo install --quiet --locked --root "$tools" --version 3.8.0 --no-default-features cargo-deb
}

# Prints the file's name.
build() {
  mkdir -p "$out"
  "$tools/bin/cargo-deb" deb --no-build --quiet --output "$1" >/dev/null
}

lint() {
  # There is no mail address of the project yet, and no bug that asked Debian for it.
  lintian --allow-root --fail-on error,warning "$out/workagent.deb" \
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs
  ruby -c packaging/homebrew/workagent.rb >/dev/null
  nix-instantiate --parse packaging/nix/default.nix >/dev/null
  # Debian's makepkg stops at any PKGBUILD: its steps are taken by hand, without the build.
  local aur=$out/aur
  rm -rf "$aur" && mkdir -p "$aur/src/target" && ln -s "$PWD/target/release" "$aur/src/target/release"
  (
    startdir=$PWD/packaging/aur srcdir=$aur/src pkgdir=$aur/pkg
    . packaging/aur/PKGBUILD
    [[ "$(pkgver)" == 0.* ]] && package
  )
  [ -x "$aur/pkg/usr/bin/workagent" ] && [ -f "$aur/pkg/usr/share/man/man1/workagent.1" ]
}

# A fresh root, made once.
root() {
  mkdir -p "$lab"
  if [ ! -f "$base" ]; then
    rm -rf "$lab/base"
    site=$(apt-get indextargets --format '$(SITE)' | grep -v security | sort -u | head -1)
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debootstrap --variant=minbase --include=ca-certificates,man-db "$suite" "$lab/base" "$site" >"$lab/debootstrap.log" 2>&1
    tar -C "$lab/base" -cf "$base.part" . && mv "$base.part" "$base"
    rm -rf "$lab/base"
  fi
  rm -rf "$lab/root" && mkdir -p "$lab/root"
  tar -C "$lab/root" -xf "$base"
}

# What is there, without what every installation writes, and the copies that a user who came and went leaves.
listing() {
  (cd "$lab/root" && find . -not -path './var/lib/dpkg/*' -not -path './var/log/*' -not -path './var/cache/*' \
    -not -path './proc/*' -not -path './dev/*' |
    grep -vE '^\./etc/(passwd|group|shadow|gshadow|subuid|subgid)-$' | LC_ALL=C sort)
}

within() { chroot "$lab/root" /usr/bin/env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LANG=C.UTF-8 "$@"; }

try() {
  root
  listing >"$lab/before"
  cp "$out/workagent.deb" "$lab/root/tmp/"
  within dpkg -i /tmp/workagent.deb >"$lab/dpkg.log"
  rm "$lab/root/tmp/workagent.deb"
  within workagent --version
  within useradd -m somebody
  within su somebody -c 'cd && workagent demo --yes' >"$lab/demo.log" 2>&1 || { tail -20 "$lab/demo.log" >&2; return 1; }
  within su somebody -c 'cd && workagent validate && workagent manual >/dev/null'
  within man -w workagent workagent-review workagent.units >/dev/null
  for file in /usr/lib/systemd/user/workagent.service /usr/share/bash-completion/completions/workagent; do
    [ -f "$lab/root$file" ] || { echo "$file is missing" >&2; return 1; }
  done
  within userdel -r somebody 2>/dev/null
  # The demo says where it lies, and stays for a look.
  rm -r "$lab/root"/tmp/workagent-demo-*
  within dpkg --purge workagent >>"$lab/dpkg.log"
  listing >"$lab/after"
  if ! diff "$lab/before" "$lab/after" >"$lab/left"; then
    echo "removing it left, or took, something:" >&2
    cat "$lab/left" >&2
    return 1
  fi
  rm -rf "$lab/root"
  echo "installed, used and removed in a fresh root: nothing left"
}

all() {
  build "$out/workagent.deb"
  build "$out/again.deb"
  cmp "$out/workagent.deb" "$out/again.deb"
  ls -l "$out/workagent.deb" | awk '{print "workagent.deb: " $5 " bytes, twice the same"}'
  lint
  try
}

case ${1:-} in
install) get_tools ;;
lint | try | all) "$1" ;;
build) build "$out/workagent.deb" ;;
*) sed -n '2,5s/^# //p' "$0" && exit 2 ;;
esac
