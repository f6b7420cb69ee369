import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";
import { forgetCsrf } from "../src/api/csrf";

afterEach(() => {
  cleanup();
  forgetCsrf();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// A busy machine is no reason to fail: what is waited for may take its time.
configure({ asyncUtilTimeout: 5_000 });
