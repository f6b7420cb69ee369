// Reads an OpenAPI description (3.1, and the nullable of 3.0). Knows no page.

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/** How deep an example body goes before it stops at `{}`. */
const MAX_EXAMPLE_DEPTH = 5;

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

/** Names of the components by their content, for each description once. */
const namesByContent = new WeakMap();

/** Gives a schema its name back where a generator wrote a component out instead of naming it. */
function named(spec, schema) {
  if (schema.$name || !schema.properties) return schema;
  let names = namesByContent.get(spec);
  if (!names) {
    const components = Object.entries(spec.components?.schemas ?? {});
    names = new Map(components.map(([name, content]) => [JSON.stringify(content), name]));
    namesByContent.set(spec, names);
  }
  return { ...schema, $name: names.get(JSON.stringify(schema)) };
}

const isNull = (schema) => schema.type === "null" || schema.const === null;

/** Brings the many ways to write a schema into one: merged allOf, types as a list, null apart. */
export function normalise(spec, node) {
  const raw = node === true ? {} : named(spec, resolve(spec, node));
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

export function baseType(spec, schema) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.variants.length > 0) {
    return schema.$name ?? schema.variants.map((variant) => baseType(spec, variant)).join(" or ");
  }
  const type = schema.types[0] ?? (schema.properties ? "object" : undefined);
  if (type === "array") return `array of ${typeText(spec, schema.items ?? {})}`;
  if (type === "object") {
    if (schema.$name) return schema.$name;
    const values = schema.additionalProperties;
    const fields = Object.keys(schema.properties ?? {});
    if (fields.length > 0) return fields.length <= 3 ? `{${fields.join(", ")}}` : "object";
    return values && typeof values === "object" ? `map of ${typeText(spec, values)}` : "object";
  }
  const known =
    schema.types.length > 0 ? schema.types.join(" or ") : schema.enum ? "string" : "any";
  return schema.format ? `${known} (${schema.format})` : known;
}

/** What `{success, data}` wraps, if the schema is such an envelope. */
export function wrappedIn(spec, node) {
  const { properties = {} } = normalise(spec, node);
  return Object.keys(properties).sort().join() === "data,success" ? properties.data : undefined;
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

/** Required fields only; if none is, the first: one change, or one of several ways. */
function objectExample(spec, schema, depth) {
  const entries = Object.entries(schema.properties ?? {});
  const required = entries.filter(([name]) => schema.required?.includes(name));
  const chosen = required.length > 0 ? required : entries.slice(0, 1);
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

export function slug(text) {
  return text
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .toLowerCase();
}

/** The command that makes the call; none for a socket, which curl cannot speak. */
export function curlOf(spec, operation, origin) {
  const answers = Object.fromEntries(operation.responses);
  if (answers[101]) return undefined;
  const query = operation.parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map((p) => `${p.name}=${encodeURIComponent(String(parameterExample(spec, p)))}`)
    .join("&");
  // Braces mean something to curl, so a placeholder is a word in capitals.
  const path = operation.path.replace(/\{\*?([^}]+)\}/g, (_, name) =>
    name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase(),
  );
  const method = operation.method === "get" ? "" : ` -X ${operation.method.toUpperCase()}`;
  // An endless answer is shown as it comes.
  const flow = answers[200]?.content?.["text/event-stream"] ? " -N" : "";
  const lines = [`curl${flow}${method} ${quote(origin + path + (query && `?${query}`))}`];
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
