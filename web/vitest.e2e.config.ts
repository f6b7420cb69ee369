import { defineConfig } from "vitest/config";

/** Browser journeys against a real server; see `e2e/README.md`. */
export default defineConfig({
  test: {
    environment: "node",
    include: ["e2e/**/*.e2e.ts"],
    setupFiles: ["./e2e/setup.ts"],
    testTimeout: 90_000,
    hookTimeout: 180_000,
    // What is asked of a page comes about; how soon is no question of these tests.
    expect: { poll: { timeout: 20_000 } },
    // The steps of a journey depend on each other; journeys do not, each has a server of its own or
    // leaves alone what others made.
    maxWorkers: 2,
    // A machine that is short of time for a moment is no defect; what fails twice is, and what was tried again is told.
    retry: process.env.CI === undefined ? 0 : 1,
    bail: 1,
  },
});
