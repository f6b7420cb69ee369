import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// Files share a window, which takes longer to make than most tests take: each begins with a page that nobody used,
// and with modules of its own.
vi.resetModules();
document.head.replaceChildren();
document.body.replaceChildren();
for (const name of document.documentElement.getAttributeNames()) {
  document.documentElement.removeAttribute(name);
}
localStorage.clear();
sessionStorage.clear();
history.replaceState(null, "", "/");

afterEach(async () => {
  cleanup();
  const { forgetCsrf } = await import("../src/api/csrf");
  forgetCsrf();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

// A busy machine is no reason to fail: what is waited for may take its time.
configure({ asyncUtilTimeout: 5_000 });
