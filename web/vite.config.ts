import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.GODEL_DEV_SERVER ?? "http://127.0.0.1:7373";

export default defineConfig({
  base: "/dashboard/",
  plugins: [react()],
  build: {
    outDir: "dist",
    // Browsers that know `light-dark()`: all current ones since mid 2024.
    target: ["chrome123", "firefox121", "safari17.5"],
    // The page runs under `default-src 'self'`; a data: URL would be blocked.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: {
      "/api": server,
      "/auth": server,
      "/health": server,
      "/docs": server,
      "/events": { target: server, ws: true },
    },
  },
  test: {
    environment: "happy-dom",
    // `tests/setup.ts` keeps files apart; a window for each of them takes several times as long.
    isolate: false,
    include: ["src/**/*.test.{ts,tsx}", "bench/**/*.test.ts", "tests/**/*.test.{js,ts}"],
    setupFiles: ["./tests/setup.ts"],
    restoreMocks: true,
    testTimeout: 20_000,
  },
});
