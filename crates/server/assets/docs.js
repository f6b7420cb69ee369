// Renders openapi.json as a page. No dependency, no innerHTML.

import {
  baseType,
  curlOf,
  limits,
  normalise,
  operations,
  slug,
  typeText,
  wrappedIn,
} from "./openapi.js";

const SPEC_URL = "/api/v1/openapi.json";

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
    type ? h("span", { class: "soft" }, ` ${answerText(spec, content.schema)}, ${type}`) : null,
  ];
  if (!content?.schema || !hasInside(spec, content.schema)) {
    return h("p", { class: "plain" }, title);
  }
  // The page says once what an envelope is; here only its content matters.
  const inside = wrappedIn(spec, content.schema) ?? content.schema;
  return lazy("response", title, () => schemaBody(spec, inside) ?? "", isOpen);
}

function answerText(spec, schema = {}) {
  const data = wrappedIn(spec, schema);
  return data ? `{success, data: ${typeText(spec, data)}}` : typeText(spec, schema);
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
  const curl = curlOf(spec, operation, location.origin);
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
    curl ? [h("h4", {}, "Example"), curlPart(curl)] : null,
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
      const link = h(
        "li",
        {},
        h("a", { href: `#${operation.id}` }, methodMark(operation.method), where(operation.path)),
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

/** A path for the contents; the prefix that most share steps back. */
function where(path) {
  const [prefix = ""] = /^\/api\/v\d+(?=\/)/.exec(path) ?? [];
  const common = prefix && h("span", { class: "soft" }, prefix);
  return h("span", { class: "where", title: path }, common, path.slice(prefix.length));
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
