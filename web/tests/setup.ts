import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";
import { forgetCsrf } from "../src/api/csrf";

afterEach(() => {
  cleanup();
  forgetCsrf();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
