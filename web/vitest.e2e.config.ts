import { defineConfig } from "vitest/config";

/** Browser journeys against a real server; see `e2e/README.md`. */
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/**/*.e2e.ts"],
    setupFiles: ["./e2e/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A login link works once, so the steps of a journey depend on each other.
    fileParallelism: false,
    bail: 1,
  },
});
