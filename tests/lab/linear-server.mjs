// Linear's GraphQL schema, rebuilt from the type declarations that Linear publishes with its own client (@linear/sdk),
// as a server on loopback: every question is validated against it, variables and all, and answered with made-up data of
// the right types. The declarations are generated from the schema and name every type, field, argument and null.
//
//   node linear-server.mjs DIR     prints its URL; GET /log tells what was asked; ends with its standard input
import { createServer } from "node:http";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const dir = process.argv[2];
const require = createRequire(join(dir, "package.json"));
const { buildSchema, execute, getNamedType, isEnumType, isListType, isAbstractType, isNonNullType, parse, validate } =
  require("graphql");

const dist = join(dir, "node_modules/@linear/sdk/dist");
const file = readdirSync(dist).find((name) => /^index-.*\.d\.mts$/.test(name));
const source = readFileSync(join(dist, file), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");

const blocks = new Map(); // name → { parents, fields: Map(name → type text) }
for (const [, name, parents, body] of source.matchAll(/^type (\w+) = ((?:\w+ & )*)\{\n([\s\S]*?)^\};/gm)) {
  const fields = new Map();
  for (const [, field, type] of body.matchAll(/^  (\w+)\??: (.+);$/gm)) fields.set(field, type);
  if (!blocks.has(name)) blocks.set(name, { parents: parents.split(" & ").filter(Boolean), fields });
}
const enums = new Map();
for (const [, name, body] of source.matchAll(/^declare enum (\w+) \{\n([\s\S]*?)^\}/gm)) {
  enums.set(name, [...body.matchAll(/= "(\w+)"/g)].map(([, value]) => value));
}
const unions = new Map();
for (const [, name, body] of source.matchAll(/^type (\w+) = (\w+(?: \| \w+)+);/gm)) unions.set(name, body.split(" | "));

const scalars = new Set();
const wanted = ["Query", "Mutation"];
const done = new Set();
const want = (name) => (done.has(name) || wanted.push(name), name);
function convert(text) {
  let inner = text.match(/^(?:Input)?Maybe<(.+)>$/);
  if (inner) return convert(inner[1]).replace(/!$/, "");
  if ((inner = text.match(/^Array<(.+)>$/))) return `[${convert(inner[1])}]!`;
  if ((inner = text.match(/^Scalars\["(\w+)"\]$/))) return scalars.add(inner[1]), `${inner[1]}!`;
  if (!/^\w+$/.test(text)) throw new Error(`a type that is not understood: ${text}`);
  return `${want(text)}!`;
}
const upper = (text) => text[0].toUpperCase() + text.slice(1);
const implementers = new Map();
for (const [name, { parents }] of blocks) for (const parent of parents) {
  implementers.set(parent, [...(implementers.get(parent) ?? []), name]);
}
let sdl = "";
while (wanted.length) {
  const name = wanted.pop();
  if (done.has(name)) continue;
  done.add(name);
  if (enums.has(name)) { sdl += `enum ${name} { ${enums.get(name).join(" ")} }\n`; continue; }
  if (unions.has(name)) { sdl += `union ${name} = ${unions.get(name).map(want).join(" | ")}\n`; continue; }
  const block = blocks.get(name);
  if (!block) throw new Error(`there is no type ${name}`);
  const kind = block.fields.has("__typename") ? "type" : implementers.has(name) ? "interface" : "input";
  implementers.get(name)?.forEach(want);
  const lines = [];
  for (const [field, type] of block.fields) {
    if (field === "__typename") continue;
    const given = kind === "input" ? undefined : blocks.get(`${name}${upper(field)}Args`);
    const args = given ? [...given.fields].map(([arg, text]) => `${arg}: ${convert(text)}`) : [];
    lines.push(`  ${field}${args.length ? `(${args.join(", ")})` : ""}: ${convert(type)}`);
  }
  const parents = block.parents.length ? ` implements ${block.parents.map(want).join(" & ")}` : "";
  sdl += `${kind} ${name}${parents} {\n${lines.join("\n")}\n}\n`;
}
for (const name of scalars) if (!/^(ID|String|Boolean|Int|Float)$/.test(name)) sdl += `scalar ${name}\n`;
const schema = buildSchema(sdl, { assumeValid: true, assumeValidSDL: true });

let ids = 0;
function made(type, field) {
  if (isNonNullType(type)) return made(type.ofType, field);
  if (isListType(type)) return [0, 1].map(() => made(type.ofType, field));
  const named = getNamedType(type);
  if (isAbstractType(named)) {
    const types = schema.getPossibleTypes(named);
    return { __typename: types[ids++ % types.length].name };
  }
  if (isEnumType(named)) return named.getValues()[0].value;
  switch (named.name) {
    case "ID": return `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`;
    case "Boolean": return field === "success";
    case "Int": case "Float": return 1;
    case "DateTime": return field === "archivedAt" ? null : "2026-11-30T08:00:00.000Z";
    case "String": return field === "urlKey" ? "acme" : field === "parentId" ? null : `some ${field}`;
    default: return field === "viewer" ? { id: "00000000-0000-4000-8000-00000000000a" } : {};
  }
}
const log = [];
function answer(question) {
  let document;
  try { document = parse(question.query); } catch (error) { return { errors: [error] }; }
  const errors = validate(schema, document);
  if (errors.length) return { errors };
  return execute({
    schema,
    document,
    variableValues: question.variables,
    rootValue: {},
    fieldResolver: (from, _args, _context, info) => from?.[info.fieldName] ?? made(info.returnType, info.fieldName),
  });
}
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") return response.end(JSON.stringify(log));
    if (!request.headers.authorization || /^bearer /i.test(request.headers.authorization)) {
      response.statusCode = 401;
      return response.end("{}");
    }
    const question = JSON.parse(body);
    const told = answer(question);
    const name = /^\s*(?:query|mutation) (\w+)/.exec(question.query)?.[1];
    log.push({ name, errors: (told.errors ?? []).map(String) });
    response.end(JSON.stringify(told));
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
