// Writes `src/api/schema.gen.ts` from `../openapi.json`; with `--check` only tells if it is stale.

import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";

const SPEC = new URL("../../openapi.json", import.meta.url);
const TYPES = new URL("../src/api/schema.gen.ts", import.meta.url);

const syntax = await openapiTS(SPEC, {
  // A payload is an object of any shape, not one that must be empty.
  emptyObjectsUnknown: true,
  silent: true,
});
const fresh = COMMENT_HEADER + astToString(syntax);

if (!process.argv.includes("--check")) {
  await writeFile(TYPES, fresh);
} else if ((await readFile(TYPES, "utf8").catch(() => "")) !== fresh) {
  process.stderr.write("src/api/schema.gen.ts is stale: run `cargo xtask codegen`\n");
  process.exitCode = 1;
}
