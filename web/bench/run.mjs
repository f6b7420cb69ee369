// Runs the benchmark, which is TypeScript and shares code with the browser journeys.
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));
const { module } = await runnerImport(main, { configFile: false, logLevel: "error" });
try {
  process.exitCode = await module.main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}
