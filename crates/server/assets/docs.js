// Renders openapi.json (3.1, and the nullable of 3.0) as a page. No dependency, no innerHTML.

const SPEC_URL = "/api/v1/openapi.json";
const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/** How deep an example body goes before it stops at `{}`. */
const MAX_EXAMPLE_DEPTH = 5;

/** Makes an element; children that are nothing (`null`, `undefined`, `false`) are skipped. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  const isThere = (child) => child !== null && child !== undefined && child !== false;
  element.append(...children.flat(Number.POSITIVE_INFINITY).filter(isThere));
  return element;
}

// ---- reading the description -------------------------------------------------------------------

/** Follows `$ref` (what stands beside it wins) and remembers the name it came from. */
export function resolve(spec, node) {
  let result = node ?? {};
  const seen = new Set();
  while (typeof result.$ref === "string" && !seen.has(result.$ref)) {
    const { $ref, ...beside } = result;
    seen.add($ref);
    const target = $ref
      .replace(/^#\//, "")
      .split("/")
      .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce((at, key) => at?.[key], spec);
    result = { ...(target ?? {}), ...beside, $name: $ref.split("/").at(-1) };
  }
  return result;
}

const isNull = (schema) => schema.type === "null" || schema.const === null;

/** Brings the many ways to write a schema into one: merged allOf, types as a list, null apart. */
export function normalise(spec, node) {
  const raw = node === true ? {} : resolve(spec, node);
  let schema = raw;
  for (const part of raw.allOf ?? []) {
    const base = normalise(spec, part);
    schema = {
      ...base,
      ...schema,
      $name: schema.$name ?? (raw.allOf.length === 1 ? base.$name : undefined),
      properties: { ...schema.properties, ...base.properties },
      required: [...new Set([...(schema.required ?? []), ...(base.required ?? [])])],
    };
  }
  const types = [schema.type ?? []].flat();
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map((choice) => normalise(spec, choice));
  const variants = choices.filter((choice) => !isNull(choice));
  const nullable =
    schema.nullable === true ||
    types.includes("null") ||
    variants.length < choices.length ||
    (schema.enum ?? []).includes(null);
  const { allOf, oneOf, anyOf, ...rest } = schema;
  const plain = { ...rest, types: types.filter((type) => type !== "null"), nullable, variants };
  if (variants.length !== 1) return plain;
  const [only] = variants;
  return {
    ...only,
    description: plain.description ?? only.description,
    default: plain.default ?? only.default,
    nullable: nullable || only.nullable,
  };
}

/** The type in words: `array of Event`, `string (date-time) or null`. */
export function typeText(spec, node) {
  const schema = normalise(spec, node);
  const text = baseType(spec, schema);
  return schema.nullable && text !== "null" ? `${text} or null` : text;
}

function baseType(spec, schema) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.variants.length > 0) {
    return schema.$name ?? schema.variants.map((variant) => baseType(spec, variant)).join(" or ");
  }
  const type = schema.types[0] ?? (schema.properties ? "object" : undefined);
  if (type === "array") return `array of ${typeText(spec, schema.items ?? {})}`;
  if (type === "object") {
    if (schema.$name) return schema.$name;
    const values = schema.additionalProperties;
    const isMap = values && typeof values === "object" && !schema.properties;
    return isMap ? `map of ${typeText(spec, values)}` : "object";
  }
  const known =
    schema.types.length > 0 ? schema.types.join(" or ") : schema.enum ? "string" : "any";
  return schema.format ? `${known} (${schema.format})` : known;
}

/** What a value may be, beyond its type. */
export function limits(schema) {
  const words = [];
  const say = (name, value) => value !== undefined && words.push(`${name} ${value}`);
  const values = (schema.enum ?? []).filter((value) => value !== null);
  if (values.length > 0) words.push(`one of ${values.map((v) => JSON.stringify(v)).join(", ")}`);
  if (schema.default !== undefined) say("default", JSON.stringify(schema.default));
  say("at least", schema.minimum);
  say("more than", schema.exclusiveMinimum);
  say("at most", schema.maximum);
  say("less than", schema.exclusiveMaximum);
  say("min length", schema.minLength);
  say("max length", schema.maxLength);
  say("min items", schema.minItems);
  say("max items", schema.maxItems);
  say("pattern", schema.pattern);
  return words.join("; ");
}

/** A value that fits the schema, for the curl lines. */
export function exampleOf(spec, node, depth = 0) {
  const schema = normalise(spec, node);
  const given = [schema.example, schema.examples?.[0], schema.const, schema.default];
  const known = given.find((value) => value !== undefined && value !== null);
  if (known !== undefined) return known;
  if (schema.enum) return schema.enum[0];
  if (schema.variants.length > 0) return exampleOf(spec, schema.variants[0], depth);
  const type = schema.types[0] ?? (schema.properties ? "object" : "any");
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "array") {
    return depth >= MAX_EXAMPLE_DEPTH ? [] : [exampleOf(spec, schema.items ?? {}, depth + 1)];
  }
  if (type === "string") return stringExample(schema);
  return depth >= MAX_EXAMPLE_DEPTH ? {} : objectExample(spec, schema, depth);
}

/** Required fields only; if none is, all that are there. */
function objectExample(spec, schema, depth) {
  const entries = Object.entries(schema.properties ?? {});
  const required = entries.filter(([name]) => schema.required?.includes(name));
  const chosen = required.length > 0 ? required : entries;
  return Object.fromEntries(
    chosen.map(([name, child]) => [name, exampleOf(spec, child, depth + 1)]),
  );
}

function stringExample({ format }) {
  if (format === "date-time") return "2026-01-31T12:00:00Z";
  if (format === "date") return "2026-01-31";
  if (format === "uuid") return "0198f2c4-6a1b-7cde-8f00-1234567890ab";
  return "text";
}

/** All operations in document order, each with what the page shows. */
export function operations(spec) {
  const base = (spec.servers?.[0]?.url ?? "").replace(/\/+$/, "");
  const prefix = base.startsWith("/") ? base : "";
  return Object.entries(spec.paths ?? {}).flatMap(([path, node]) => {
    const item = resolve(spec, node);
    return METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method];
      const own = (operation.parameters ?? []).map((parameter) => resolve(spec, parameter));
      const shared = (item.parameters ?? []).map((parameter) => resolve(spec, parameter));
      const isOverridden = (p) => own.some((o) => o.name === p.name && o.in === p.in);
      const body = operation.requestBody && resolve(spec, operation.requestBody);
      return {
        method,
        path: prefix + path,
        id: slug(operation.operationId ?? `${method}-${path}`),
        tag: operation.tags?.[0] ?? "other",
        summary: operation.summary ?? "",
        description: operation.description ?? "",
        isDeprecated: operation.deprecated === true,
        isPublic: isPublic(operation.security ?? spec.security),
        parameters: [...shared.filter((p) => !isOverridden(p)), ...own],
        body,
        responses: Object.entries(operation.responses ?? {}).map(([status, response]) => [
          status,
          resolve(spec, response),
        ]),
      };
    });
  });
}

/** No requirement at all, or an empty one among the choices, means: no key needed. */
function isPublic(security) {
  if (security === undefined) return false;
  return security.length === 0 || security.some((choice) => Object.keys(choice).length === 0);
}

function slug(text) {
  return text
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase();
}

/** The command that makes the call. */
export function curlOf(spec, operation, origin) {
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map((p) => `${p.name}=${encodeURIComponent(String(parameterExample(spec, p)))}`)
    .join("&");
  // Braces mean something to curl, so a placeholder is a word in capitals.
  const path = operation.path.replace(/\{\*?([^}]+)\}/g, (_, name) =>
    name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase(),
  );
  const method = operation.method === "get" ? "" : ` -X ${operation.method.toUpperCase()}`;
  const lines = [`curl${method} ${quote(origin + path + (query && `?${query}`))}`];
  if (!operation.isPublic) lines.push(`-H "X-API-Key: $GODEL_KEY"`);
  for (const parameter of operation.parameters) {
    if (parameter.in !== "header" || !parameter.required) continue;
    lines.push(`-H ${quote(`${parameter.name}: ${parameterExample(spec, parameter)}`)}`);
  }
  const [type, content] = Object.entries(operation.body?.content ?? {})[0] ?? [];
  if (type) {
    lines.push(`-H "Content-Type: ${type}"`);
    const body = content.example ?? exampleOf(spec, content.schema);
    lines.push(`-d ${quote(typeof body === "string" ? body : JSON.stringify(body), true)}`);
  }
  return lines.join(" \\\n  ");
}

function parameterExample(spec, parameter) {
  return parameter.example ?? exampleOf(spec, parameter.schema ?? {});
}

/** Quotes for a shell where needed; a single quote inside needs the long form. */
function quote(text, always = false) {
  if (!always && /^[\w\-./:@%+,=]+$/.test(text)) return text;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// ---- drawing -----------------------------------------------------------------------------------

/** Paragraphs, lists and `code`: all the Markdown a summary needs. */
function prose(text) {
  const blocks = text.trim().split(/\n\s*\n/);
  return h(
    "div",
    { class: "prose" },
    blocks.filter(Boolean).map((block) => {
      const lines = block.split("\n");
      if (!lines.every((line) => /^\s*[-*] /.test(line))) return h("p", {}, inline(block));
      return h(
        "ul",
        {},
        lines.map((line) => h("li", {}, inline(line.replace(/^\s*[-*] /, "")))),
      );
    }),
  );
}

function inline(text) {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part.replaceAll("**", "")));
}

/** A part that is drawn when it is first opened, so that circles in the schemas do no harm. */
function lazy(className, summary, draw, isOpen = false) {
  const details = h("details", { class: className }, h("summary", {}, summary));
  const fill = () => details.childElementCount === 1 && details.append(draw());
  if (isOpen) {
    fill();
    details.open = true;
  } else {
    details.addEventListener("toggle", fill);
  }
  return details;
}

/** The inside of a schema, or null when its type says it all. */
function schemaBody(spec, node) {
  const schema = normalise(spec, node);
  if (schema.variants.length > 0) {
    const items = schema.variants.map((variant) => {
      const kind = h("span", { class: "kind" }, baseType(spec, variant));
      return h("li", {}, kind, about(variant), nested(spec, variant));
    });
    return h("ul", { class: "fields" }, items);
  }
  if (schema.types[0] === "array") return schemaBody(spec, schema.items ?? {});
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length > 0) {
    const items = fields.map(([name, child]) => field(spec, name, child, schema.required ?? []));
    return h("ul", { class: "fields" }, items);
  }
  const values = schema.additionalProperties;
  return values && typeof values === "object" ? schemaBody(spec, values) : null;
}

function field(spec, name, node, required) {
  const schema = normalise(spec, node);
  return h(
    "li",
    {},
    h("span", { class: "name" }, name),
    h("span", { class: "kind" }, typeText(spec, node)),
    required.includes(name) && h("span", { class: "required" }, " required"),
    about(schema),
    nested(spec, node),
  );
}

function about(schema) {
  const words = limits(schema);
  return [
    schema.description ? h("p", {}, inline(schema.description)) : null,
    words ? h("p", { class: "limits" }, words) : null,
  ];
}

function nested(spec, node) {
  return hasInside(spec, node)
    ? lazy("nested", "Show fields", () => schemaBody(spec, node) ?? "")
    : null;
}

function hasInside(spec, node) {
  const schema = normalise(spec, node);
  if (schema.variants.length > 0) return true;
  if (schema.types[0] === "array") return hasInside(spec, schema.items ?? {});
  if (Object.keys(schema.properties ?? {}).length > 0) return true;
  const values = schema.additionalProperties;
  return Boolean(values) && typeof values === "object" && hasInside(spec, values);
}

function parameterTable(spec, parameters) {
  const row = (parameter) => {
    const schema = normalise(spec, parameter.schema ?? {});
    const text = parameter.description ?? schema.description ?? "";
    const words = limits(schema);
    return h(
      "tr",
      {},
      h("td", {}, h("code", {}, parameter.name)),
      h("td", {}, parameter.in, parameter.required && h("div", { class: "required" }, "required")),
      h("td", { class: "kind" }, typeText(spec, parameter.schema ?? {})),
      h("td", {}, inline(text), words ? h("div", { class: "limits" }, words) : null),
    );
  };
  const head = ["Name", "In", "Type", "Meaning"].map((text) => h("th", { scope: "col" }, text));
  return h(
    "div",
    { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, parameters.map(row))),
  );
}

function bodyPart(spec, body) {
  return Object.entries(body.content ?? {}).map(([type, { schema }]) => [
    h(
      "h4",
      {},
      "Body ",
      h("span", { class: "soft" }, `${typeText(spec, schema ?? {})}, ${type}`),
      body.required && h("span", { class: "required" }, " required"),
    ),
    body.description ? h("p", { class: "limits" }, inline(body.description)) : null,
    schemaBody(spec, schema ?? {}),
  ]);
}

function responsePart(spec, [status, response], isOpen) {
  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  const title = [
    h("span", { class: "status", "data-class": status[0] }, status),
    inline(response.description ?? ""),
    type ? h("span", { class: "soft" }, ` ${typeText(spec, content.schema ?? {})}, ${type}`) : null,
  ];
  if (!content?.schema || !hasInside(spec, content.schema)) {
    return h("p", { class: "plain" }, title);
  }
  return lazy("response", title, () => schemaBody(spec, content.schema) ?? "", isOpen);
}

function curlPart(text) {
  const button = h("button", { type: "button", "aria-live": "polite" }, "Copy");
  button.addEventListener("click", async () => {
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    button.textContent = copied ? "Copied" : "Could not copy";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return h("div", { class: "example" }, h("pre", {}, h("code", {}, text)), button);
}

function methodMark(method) {
  return h("span", { class: "method", "data-method": method }, method.toUpperCase());
}

function article(spec, operation) {
  const { id, method, path, summary, description, parameters, body, responses } = operation;
  const firstGood = responses.findIndex(([status]) => status.startsWith("2"));
  return h(
    "article",
    { id },
    h(
      "h3",
      {},
      methodMark(method),
      h("a", { href: `#${id}` }, path),
      operation.isDeprecated && h("span", { class: "badge" }, "deprecated"),
      operation.isPublic && h("span", { class: "badge" }, "no key needed"),
    ),
    summary ? h("p", { class: "summary" }, inline(summary)) : null,
    description && description.trim() !== summary.trim() ? prose(description) : null,
    parameters.length > 0 ? [h("h4", {}, "Parameters"), parameterTable(spec, parameters)] : null,
    body ? bodyPart(spec, body).flat() : null,
    h("h4", {}, "Answers"),
    responses.map((entry, index) => responsePart(spec, entry, index === firstGood)),
    h("h4", {}, "Example"),
    curlPart(curlOf(spec, operation, location.origin)),
  );
}

/** Draws the whole reference and returns what the filter needs. */
function draw(spec, content, contents) {
  const all = operations(spec);
  const described = new Map((spec.tags ?? []).map((tag) => [tag.name, tag.description]));
  const tags = [...new Set([...described.keys(), ...all.map((operation) => operation.tag)])];
  const title = [
    spec.info?.title ?? "API",
    " ",
    h("span", { class: "soft" }, spec.info?.version ?? ""),
  ];
  content.replaceChildren(
    h("div", { class: "intro" }, h("h1", {}, title), prose(spec.info?.description ?? "")),
  );
  contents.replaceChildren();
  const entries = [];
  for (const tag of tags) {
    const members = all.filter((operation) => operation.tag === tag);
    if (members.length === 0) continue;
    const section = h("section", { id: `tag-${slug(tag)}` }, h("h2", {}, tag));
    if (described.get(tag)) section.append(prose(described.get(tag)));
    const heading = h("h2", {}, tag);
    const list = h("ul", {});
    for (const operation of members) {
      const part = article(spec, operation);
      const where = h("span", { class: "where", title: operation.path }, shortPath(operation.path));
      const link = h(
        "li",
        {},
        h("a", { href: `#${operation.id}` }, methodMark(operation.method), where),
      );
      section.append(part);
      list.append(link);
      const { method, path, summary, description } = operation;
      const words = [method, path, tag, summary, description, operation.id].join(" ").toLowerCase();
      entries.push({ words, parts: [part, link] });
    }
    content.append(section);
    contents.append(heading, list);
    entries.push({ members, groups: [section, heading, list] });
  }
  return entries;
}

/** The contents need not repeat the prefix that all paths share. */
function shortPath(path) {
  return path.replace(/^\/api\/v1(?=\/)/, "");
}

function connectFilter(input, count, entries) {
  const total = entries.filter((entry) => entry.words !== undefined).length;
  const apply = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    let shownInGroup = 0;
    for (const { words, parts, groups } of entries) {
      if (groups) {
        for (const group of groups) group.hidden = shownInGroup === 0;
        shownInGroup = 0;
        continue;
      }
      const isShown = wanted.every((word) => words.includes(word));
      for (const part of parts) part.hidden = !isShown;
      if (isShown) {
        shown += 1;
        shownInGroup += 1;
      }
    }
    count.textContent = wanted.length > 0 ? `${shown} of ${total}` : `${total} operations`;
  };
  input.addEventListener("input", apply);
  input.disabled = false;
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target === input) return;
    event.preventDefault();
    input.focus();
  });
  apply();
}

function problem(text, hint) {
  return h("div", { class: "problem", role: "alert" }, h("strong", {}, text), " ", hint);
}

/** Fetches the description and fills the page. */
export async function main(page = document) {
  const content = page.getElementById("content");
  try {
    const response = await fetch(SPEC_URL, { credentials: "same-origin" });
    if (response.status === 401 || response.status === 403) {
      const signIn = h("a", { href: "/dashboard/" }, "Sign in to the dashboard");
      content.replaceChildren(
        problem("The server wants to know you first.", h("span", {}, signIn, ", then come back.")),
      );
      return;
    }
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const entries = draw(await response.json(), content, page.getElementById("contents"));
    connectFilter(page.getElementById("filter"), page.getElementById("count"), entries);
    // The target exists only now; going there again scrolls to it and marks it.
    if (location.hash.length > 1) location.replace(location.hash);
  } catch (error) {
    content.replaceChildren(
      problem("The description of the API could not be read.", `Reason: ${error.message}.`),
    );
  } finally {
    content.removeAttribute("aria-busy");
  }
}

if (document.getElementById("contents")) main();
