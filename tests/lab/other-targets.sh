#!/bin/bash
# The same sources for other systems than this one.
#
#   other-targets.sh install   Rust's own libraries for macOS (rustup), and zig's C headers and compiler for it (PyPI)
#   other-targets.sh macos     compiles everything for macOS up to linking, tests too, warnings being errors
#   other-targets.sh musl      builds the one static binary for Linux (wants `apt-get install musl-tools`), and lets it run
#                              the demo
set -u
ZIG=0.17.1
ZIGBUILD=0.24.1
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
HOME_DIR=${WORKAGENT_LAB_CACHE:-$ROOT/target/lab}/zig-$ZIG-$ZIGBUILD
MAC=aarch64-apple-darwin
MUSL=x86_64-unknown-linux-musl

die() { printf 'other-targets.sh: %s\n' "$*" >&2; exit 1; }

do_install() {
  rustup target add "$MAC" >/dev/null 2>&1 || die "rustup has no $MAC here"
  [ -e "$HOME_DIR/.whole" ] && return 0
  rm -rf "$HOME_DIR" && mkdir -p "$HOME_DIR" || die "cannot make $HOME_DIR"
  PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    --target "$HOME_DIR" "ziglang==$ZIG" "cargo-zigbuild==$ZIGBUILD" 2>"$HOME_DIR/.log" ||
    die "installing zig failed: $(tail -3 "$HOME_DIR/.log")"
  touch "$HOME_DIR/.whole"
}

do_macos() {
  [ -e "$HOME_DIR/.whole" ] || die "zig is not installed: bash tests/lab/other-targets.sh install"
  cd "$ROOT" || exit 1
  RUSTFLAGS='-D warnings' PYTHONPATH=$HOME_DIR PATH=$HOME_DIR/bin:$PATH CARGO_TARGET_DIR=$ROOT/target/macos \
    cargo-zigbuild check --locked --quiet --lib --bins --target "$MAC"
}

do_musl() {
  cd "$ROOT" || exit 1
  rustup target add "$MUSL" >/dev/null 2>&1 || die "rustup has no $MUSL here"
  cargo build --release --locked --quiet --target "$MUSL" || exit 1
  ldd "target/$MUSL/release/workagent" 2>&1 | grep -q 'statically linked' || die "it is not static"
  "target/$MUSL/release/workagent" demo --yes >/dev/null || die "its demo failed"
}

case "${1:-}" in
  install) do_install ;;
  macos) do_macos ;;
  musl) do_musl ;;
  *) die "install, macos or musl" ;;
esac
