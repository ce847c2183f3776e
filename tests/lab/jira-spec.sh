#!/usr/bin/env bash
# Atlassian's own description of Jira's API (version 2, shipped by the crate jira-api-v2) served by Prism, which refuses
# requests that do not fit it with 400 or 422.
#
#   jira-spec.sh install     installs what is missing, at fixed versions, below the target folder
#   jira-spec.sh run         serves; prints URL=…, then `ready`; ends when its standard input does
#
# No package ships the description of version 3. It differs in the path and in that texts are documents, so the same
# description is served under /rest/api/3 too, with any object as the text of a comment. The search of version 3
# (`search/jql`) is younger than the description and not in it.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
dir=${WORKAGENT_LAB_SPECS:-${CARGO_TARGET_DIR:-$here/target}/lab-specs}

DESCRIPTION=1.0.1
PRISM=5.16.0
root=$dir/jira-$DESCRIPTION-$PRISM

die() { printf 'jira-spec.sh: %s\n' "$*" >&2; exit 1; }

# In a folder that appears only when it is whole.
install() {
  [ -d "$root" ] && return 0
  command -v npm >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install npm >/dev/null ||
    die "npm is needed"
  local new
  mkdir -p "$dir"
  new=$(mktemp -d "$dir/.jira.XXXXXX")
  if ! fill "$new"; then
    rm -rf "$new"
    die "it could not be installed"
  fi
  mv "$new" "$root"
}

fill() {
  npm install --prefix "$1" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
    "@stoplight/prism-cli@$PRISM" >&2 || return 1
  mkdir -p "$1/crate/src"
  : >"$1/crate/src/lib.rs"
  printf '[package]\nname = "description"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\njira-api-v2 = "=%s"\n' \
    $DESCRIPTION >"$1/crate/Cargo.toml"
  cargo metadata --quiet --format-version 1 --manifest-path "$1/crate/Cargo.toml" >"$1/crate/metadata.json" || return 1
  slice "$1"
}

# Cuts the description to what is asked for, and makes examples of the texts of JSON that it holds in their place.
slice() {
  cat >"$1/slice.mjs" <<'X'
import fs from "fs";
import path from "path";
const [, , metadata, target] = process.argv;
const found = JSON.parse(fs.readFileSync(metadata)).packages.find((one) => one.name === "jira-api-v2");
const whole = JSON.parse(fs.readFileSync(path.join(path.dirname(found.manifest_path), "swagger.json")));
const keep = new RegExp("^/rest/api/2/(myself|search|serverInfo|user/assignable/search" +
  "|issue/\\{issueIdOrKey\\}(|/comment|/transitions|/assignee))$");
const out = { openapi: whole.openapi, info: whole.info, servers: [{ url: "/" }], paths: {},
  components: { securitySchemes: whole.components.securitySchemes } };
const seen = new Set(), todo = [];
const walk = (value) => {
  if (!value || typeof value !== "object") return;
  if (typeof value.$ref === "string" && value.$ref.startsWith("#/")) todo.push(value.$ref);
  Object.values(value).forEach(walk);
};
for (const [name, methods] of Object.entries(whole.paths)) {
  if (!keep.test(name)) continue;
  for (const method of Object.values(methods)) {
    for (const response of Object.values(method.responses ?? {})) {
      for (const content of Object.values(response.content ?? {})) {
        if (typeof content.example === "string") content.example = JSON.parse(content.example);
        if (content.schema?.type === "array" && content.example && !Array.isArray(content.example)) {
          content.example = [content.example];
        }
      }
    }
  }
  out.paths[name] = methods;
  walk(methods);
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
const document = structuredClone(out.components.schemas.Comment);
document.properties.body = { type: "object", required: ["type", "version", "content"] };
document.required = ["body"];
out.components.schemas.DocumentComment = document;
for (const [name, methods] of Object.entries(out.paths)) {
  if (name === "/rest/api/2/search") continue;
  const copy = structuredClone(methods);
  if (name.endsWith("/comment")) {
    copy.post.requestBody.content["application/json"].schema = { $ref: "#/components/schemas/DocumentComment" };
  }
  out.paths[name.replace("/rest/api/2/", "/rest/api/3/")] = copy;
}
fs.writeFileSync(target, JSON.stringify(out));
X
  node "$1/slice.mjs" "$1/crate/metadata.json" "$1/jira.json"
}

run() {
  [ -d "$root" ] || die "not installed: bash tests/lab/jira-spec.sh install"
  local port
  log=$(mktemp)
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  node "$root/node_modules/.bin/prism" mock -h 127.0.0.1 -p "$port" "$root/jira.json" >"$log" 2>&1 &
  prism=$!
  trap 'kill "$prism" 2>/dev/null || true; rm -f "$log"' EXIT
  for _ in $(seq 600); do
    kill -0 "$prism" 2>/dev/null || die "prism ended: $(tail -3 "$log")"
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    sleep 0.1
  done
  printf 'URL=http://127.0.0.1:%s\nready\n' "$port"
  cat >/dev/null
}

case ${1:-} in
  install) install ;;
  run) run ;;
  *) die "usage: $0 install | run" ;;
esac
