#!/usr/bin/env bash
# Fuzzes unit text, guided by coverage: `bash tests/fuzz/run.sh [SECONDS]`, ten minutes unless told. Needs a C++ compiler.
# What it finds lies in tests/fuzz/crashes/; mended, it becomes a file in tests/fuzz/inputs/, which `cargo test` runs.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
cd "$here"

# The versions of the product.
cp "$root/Cargo.lock" Cargo.lock
RUSTC_WRAPPER=$here/rustc.sh nice cargo build --quiet --release

# To begin with: each shipped unit, each folder of fixtures as a whole, the inputs that were kept.
mkdir -p corpus crashes
seed() { # NAME FILE...
  local name=$1 file
  shift
  for file in "$@"; do printf '%%%% %s\n' "$(basename "$file")" && cat "$file" && echo; done >"corpus/seed-$name"
}
for file in "$root"/units/*.toml; do seed "$(basename "$file")" "$file"; done
seed all "$root"/units/*.toml
for folder in "$root"/tests/fixtures/units/*/; do
  files=("$folder"*.toml)
  [ -e "${files[0]}" ] && seed "$(basename "$folder")" "${files[@]}"
done
cp inputs/* corpus/

# Words that no mutation finds by itself: kinds, tables, keys.
{
  printf '"%%%% a.%s.toml\\x0a"\n' connector engine env route runtime channel timer secret target daemon
  printf '"%s"\n' '%% a@b.connector.toml\x0a' '%% a@.connector.toml\x0a' '%% 2:a.connector.d/x.toml\x0a' '%% connector.d/x.toml\x0a'
  grep -rhozE '(Key|Table)Spec::new\([[:space:]]*"[a-z_]+"' "$root"/src/{unit,platform,engine} | tr '\0' '\n' |
    grep -oE '"[a-z_]+"' | tr -d '"' | sort -u | sed -E 's/.*/"&"\n"[&]\\x0a"\n"\\x0a& = "/'
  printf '"%s"\n' '{ append = [' '{ remove = [' '{ secret = \"' '{ env = \"' 'unset = [\"' '%i' '%h' '%n' '%%' '\"\"\"' "'''" '[[' 'a.env' 'a.engine' 'true' 'false'
} >unit_text.dict

exec nice "${CARGO_TARGET_DIR:-target}/release/unit_text" corpus -dict=unit_text.dict -artifact_prefix=crashes/ \
  -max_len=16384 -timeout=20 -rss_limit_mb=4096 -max_total_time="${1:-600}" -print_final_stats=1
