import { basename } from "node:path";
import { afterEach, expect } from "vitest";
import { openPages, picture, takeForeign } from "./browser";

afterEach(() => expect(takeForeign(), "requests to other hosts").toEqual([]));

// What the browser showed when a test failed says more than the failure.
afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return;
  const journey = basename(task.file.name, ".e2e.ts");
  for (const [at, page] of openPages().entries()) {
    await picture(page, `failed-${journey}-${at + 1}`);
  }
});
