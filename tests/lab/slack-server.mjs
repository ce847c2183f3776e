// Slack's methods as their arguments stand in the types of Slack's own client (@slack/web-api), as a server on loopback:
// every call is answered, and its arguments are held against the types by the TypeScript compiler when GET /log is asked.
//
//   node slack-server.mjs DIR     prints its URL; GET /log tells what was asked; ends with its standard input
import { createServer } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const dir = process.argv[2];
const ts = createRequire(join(dir, "package.json"))("typescript");

// The type of each method's arguments. What comes in a query is text; the client sends numbers and flags as text, too.
const METHODS = {
  "auth.test": "AuthTestArguments",
  "users.info": "UsersInfoArguments",
  "users.conversations": "UsersConversationsArguments",
  "conversations.history": "ConversationsHistoryArguments",
  "conversations.replies": "ConversationsRepliesArguments",
  "chat.postMessage": "ChatPostMessageArguments",
  "reactions.add": "ReactionsAddArguments",
  "apps.connections.open": "AppsConnectionsOpenArguments",
};
const NUMBERS = ["limit"];
const FLAGS = ["exclude_archived", "include_all_metadata", "inclusive"];
// Not among the documented arguments, and sent all the same: help for a repeat within moments.
const UNDOCUMENTED = { "chat.postMessage": ["client_msg_id"] };

const message = (ts, user, text, more) => ({ type: "message", ts, user, text, ...more });
// Behind whatever "now" is when the client begins.
const now = Math.floor(Date.now() / 1000) + 600;
const ANSWERS = {
  "auth.test": { ok: true, url: "https://acme.slack.com/", team_id: "T1", user: "kim", user_id: "UME" },
  "users.info": { ok: true, user: { profile: { display_name: "Pat" } } },
  "users.conversations": { ok: true, channels: [{ id: "C1", name: "general" }, { id: "D1", is_im: true, user: "UPAT" }] },
  "conversations.history": {
    ok: true, has_more: true, response_metadata: { next_cursor: "bmV4dA==" },
    messages: [message(`${now + 5}.000100`, "UPAT", "<@UME> look"), message(`${now + 4}.000100`, "UPAT", "lunch?")],
  },
  "conversations.replies": { ok: true, messages: [message(`${now + 6}.000100`, "USAM", "me too", { thread_ts: `${now + 5}.000100` })] },
  "chat.postMessage": { ok: true, channel: "C1", ts: `${now + 9}.000100` },
  "reactions.add": { ok: true },
  "apps.connections.open": { ok: true, url: "wss://example.org/" },
};

const calls = [];
function check() {
  const lines = ['import type * as slack from "@slack/web-api";'];
  calls.forEach(({ name, given }, nth) => {
    lines.push(`export const call${nth}: slack.${METHODS[name] ?? "unknown"} = ${JSON.stringify(given)};`);
  });
  // Beside the packages, so that their types are found.
  const place = mkdtempSync(join(dir, "check-"));
  const file = join(place, "calls.ts");
  writeFileSync(file, lines.join("\n"));
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16, target: ts.ScriptTarget.ES2022 };
  const program = ts.createProgram([file], options);
  const errors = calls.map(({ faults }) => [...faults]);
  for (const found of ts.getPreEmitDiagnostics(program)) {
    const text = ts.flattenDiagnosticMessageText(found.messageText, " ");
    const line = found.file && found.file.fileName.endsWith("calls.ts")
      ? found.file.getLineAndCharacterOfPosition(found.start).line : 0;
    (errors[Math.max(0, line - 1)] ?? errors[0]).push(text);
  }
  rmSync(place, { recursive: true });
  return calls.map(({ name }, nth) => ({ name, errors: errors[nth] }));
}

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    const url = new URL(request.url, "http://localhost");
    if (url.pathname === "/log") return response.end(JSON.stringify(check()));
    const name = url.pathname.replace("/api/", "");
    const faults = [];
    if (!(name in METHODS)) faults.push(`there is no method ${name} here`);
    if (!/^Bearer xox|^Bearer CANARY/.test(request.headers.authorization ?? "")) faults.push("no token in its header");
    if (url.searchParams.has("token")) faults.push("a token in the address");
    const given = body ? JSON.parse(body) : Object.fromEntries(url.searchParams);
    if (!body) {
      for (const key of NUMBERS) if (key in given) given[key] = Number(given[key]);
      for (const key of FLAGS) if (key in given) given[key] = given[key] === "true";
    }
    for (const key of UNDOCUMENTED[name] ?? []) delete given[key];
    calls.push({ name, given, faults });
    const answer = structuredClone(ANSWERS[name] ?? { ok: false, error: "unknown_method" });
    if (url.searchParams.has("cursor")) {
      answer.has_more = false;
      answer.response_metadata = { next_cursor: "" };
    }
    response.end(JSON.stringify(answer));
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
