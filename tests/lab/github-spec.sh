#!/usr/bin/env bash
# GitHub's own description of its API (npm @octokit/openapi) served by Prism, which refuses requests that do not fit it
# with 422, and recorded answers of api.github.com (npm @octokit/fixtures).
#
#   github-spec.sh install     installs what is missing, at fixed versions, below the target folder
#   github-spec.sh fixtures    prints the folder of the recorded answers
#   github-spec.sh run         serves; prints URL=…, then `ready`; ends when its standard input does
#
# The description is cut to the paths that a work agent asks for: the whole takes a minute and 300 MB to load.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${WORKAGENT_LAB_SPECS:-${CARGO_TARGET_DIR:-$here/target}/lab-specs}

OPENAPI=23.0.2
FIXTURES=23.1.2
PRISM=5.16.0
root=$dir/github-$OPENAPI-$FIXTURES-$PRISM
modules=$root/node_modules

die() { printf 'github-spec.sh: %s\n' "$*" >&2; exit 1; }

# In a folder that appears only when it is whole.
install() {
  [ -d "$modules" ] && return 0
  command -v npm >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install npm >/dev/null ||
    die "npm is needed"
  local new
  mkdir -p "$dir"
  new=$(mktemp -d "$dir/.github.XXXXXX")
  if ! npm install --prefix "$new" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    "@octokit/openapi@$OPENAPI" "@octokit/fixtures@$FIXTURES" "@stoplight/prism-cli@$PRISM" >&2; then
    rm -rf "$new"
    die "npm install failed"
  fi
  rm -rf "$root"
  mv "$new" "$root"
}

slice() {
  cat >"$1/slice.mjs" <<'X'
import fs from "fs";
const [, , source, target] = process.argv;
const whole = JSON.parse(fs.readFileSync(source));
const keep = new RegExp("^/(user|notifications|notifications/threads/\\{thread_id\\}|repos/\\{owner\\}/\\{repo\\}" +
  "(|/labels/\\{name\\}|/releases/\\{release_id\\}|/comments/\\{comment_id\\}" +
  "|/issues(|/comments|/\\{issue_number\\}(|/comments|/labels|/labels/\\{name\\}|/assignees))" +
  "|/pulls/(comments|\\{pull_number\\}/(reviews|comments|comments/\\{comment_id\\}/replies))))$");
const out = { openapi: whole.openapi, info: whole.info, servers: [{ url: "/" }], paths: {}, components: {} };
const seen = new Set(), todo = [];
const walk = (value) => {
  if (!value || typeof value !== "object") return;
  if (typeof value.$ref === "string" && value.$ref.startsWith("#/")) todo.push(value.$ref);
  Object.values(value).forEach(walk);
};
for (const [path, methods] of Object.entries(whole.paths)) {
  if (keep.test(path)) { out.paths[path] = methods; walk(methods); }
}
while (todo.length) {
  const reference = todo.pop();
  if (seen.has(reference)) continue;
  seen.add(reference);
  const parts = reference.slice(2).split("/").map((part) => part.replace(/~1/g, "/").replace(/~0/g, "~"));
  let from = whole, to = out;
  for (const part of parts.slice(0, -1)) { from = from[part]; to = to[part] ??= {}; }
  to[parts.at(-1)] = from[parts.at(-1)];
  walk(to[parts.at(-1)]);
}
fs.writeFileSync(target, JSON.stringify(out));
X
  node "$1/slice.mjs" "$modules/@octokit/openapi/generated/api.github.com.json" "$1/github.json"
}

run() {
  [ -d "$modules" ] || die "not installed: bash tests/lab/github-spec.sh install"
  local port
  work=$(mktemp -d)
  slice "$work"
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  node "$modules/.bin/prism" mock -h 127.0.0.1 -p "$port" --errors "$work/github.json" >"$work/log" 2>&1 &
  prism=$!
  trap 'kill "$prism" 2>/dev/null || true; rm -rf "$work"' EXIT
  for _ in $(seq 600); do
    kill -0 "$prism" 2>/dev/null || die "prism ended: $(tail -3 "$work/log")"
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
  done
  printf 'URL=http://127.0.0.1:%s\nready\n' "$port"
  cat >/dev/null
}

case ${1:-} in
  install) install ;;
  fixtures)
    [ -d "$modules" ] || die "not installed: bash tests/lab/github-spec.sh install"
    printf '%s\n' "$modules/@octokit/fixtures/scenarios/api.github.com"
    ;;
  run) run ;;
  *) die "usage: $0 install | fixtures | run" ;;
esac
