// Weighs what a browser must fetch before the first page is there; fails if it became too much.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** All scripts of the first page together, compressed. */
const MOST_BYTES = 250_000;

const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const page = readFileSync(join(dist, "index.html"), "utf8");
const scripts = [...page.matchAll(/(?:src|href)="\/dashboard\/([^"]+\.js)"/g)].map(
  ([, name]) => name,
);
if (scripts.length === 0) throw new Error("dist/index.html names no script");
const bytes = scripts.reduce(
  (sum, name) => sum + gzipSync(readFileSync(join(dist, name))).length,
  0,
);
const told = `scripts of the first page: ${bytes} bytes compressed, of at most ${MOST_BYTES}`;
if (bytes > MOST_BYTES) {
  process.stderr.write(
    `${told}\nload what the first page does not need with the page that needs it\n`,
  );
  process.exitCode = 1;
} else process.stdout.write(`${told}\n`);
