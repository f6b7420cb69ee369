// Compresses what was built, once and as well as can be, so that no server does it for each request.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";

/** Smaller files fit into one packet as they are. */
const LEAST_BYTES = 1_024;
const TEXTS = /\.(?:js|css|html|svg|json)$/;

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const pressed = { before: 0, br: 0, gz: 0 };
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !TEXTS.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const bytes = readFileSync(path);
  if (bytes.length < LEAST_BYTES) continue;
  const br = brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length } });
  const gz = gzipSync(bytes, { level: 9 });
  writeFileSync(`${path}.br`, br);
  writeFileSync(`${path}.gz`, gz);
  pressed.before += bytes.length;
  pressed.br += br.length;
  pressed.gz += gz.length;
}
if (pressed.before === 0) throw new Error("dist has nothing to compress");
process.stdout.write(
  `compressed ${pressed.before} bytes: brotli ${pressed.br}, gzip ${pressed.gz}\n`,
);
