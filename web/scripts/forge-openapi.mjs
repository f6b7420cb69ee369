// Takes the few operations that Godel uses out of GitHub's published OpenAPI description, for the tests of pull
// requests: the whole has 13 MB. `npm pack @octokit/openapi`, unpack it, and then:
//
//   node web/scripts/forge-openapi.mjs package/generated/api.github.com.json crates/smithy/data/github.json
import { readFileSync, writeFileSync } from "node:fs";

const WANTED = {
  "/repos/{owner}/{repo}/pulls": ["get", "post"],
  "/repos/{owner}/{repo}/pulls/{pull_number}": ["get", "patch"],
  "/repos/{owner}/{repo}/pulls/{pull_number}/merge": ["put"],
  "/repos/{owner}/{repo}/pulls/{pull_number}/reviews": ["get"],
  "/repos/{owner}/{repo}/commits/{ref}/check-runs": ["get"],
  "/repos/{owner}/{repo}/commits/{ref}/status": ["get"],
  "/repos/{owner}/{repo}/issues/{issue_number}/comments": ["post"],
};
/** Words for people; a property may have one of these names, so they go only where keywords stand. */
const PROSE = new Set([
  "description",
  "summary",
  "title",
  "example",
  "examples",
  "externalDocs",
  "tags",
]);

const [, , from, to] = process.argv;
const whole = JSON.parse(readFileSync(from, "utf8"));
const components = {};

/** Copies a node without prose, and brings along whatever it refers to. */
function copy(node, names = false) {
  if (Array.isArray(node)) return node.map((one) => copy(one));
  if (node === null || typeof node !== "object") return node;
  const out = {};
  for (const [key, value] of Object.entries(node)) {
    if (!names && (PROSE.has(key) || key.startsWith("x-"))) continue;
    if (key === "$ref" && !names) bring(value);
    out[key] = copy(value, key === "properties" && !names);
  }
  return out;
}

function bring(reference) {
  const [, , kind, name] = reference.split("/");
  components[kind] ??= {};
  if (name in components[kind]) return;
  components[kind][name] = null;
  components[kind][name] = copy(whole.components[kind][name]);
}

const paths = {};
for (const [path, methods] of Object.entries(WANTED)) {
  paths[path] = {};
  for (const method of methods) paths[path][method] = copy(whole.paths[path][method]);
}
const info = {
  title: whole.info.title,
  version: whole.info.version,
  source: "npm @octokit/openapi",
};
for (const kind of Object.keys(components)) {
  components[kind] = Object.fromEntries(
    Object.entries(components[kind]).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
writeFileSync(
  to,
  `${JSON.stringify({ openapi: whole.openapi, info, paths, components }, null, 1)}\n`,
);
