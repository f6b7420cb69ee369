import { describe, expect, it } from "vitest";
import type { Attempt, Attempts } from "../../../api/types";
import { filesOf } from "../../agents/detail/patch";
import { gatesOf, needsForce, standing, whyNotPick } from "./attempts";

const PATCH = `diff --git a/hello.txt b/hello.txt
new file mode 100644
index 0000000..ce01362
--- /dev/null
+++ b/hello.txt
@@ -0,0 +1,2 @@
+hello
+++ not a head
\\ No newline at end of file
diff --git a/src/old.rs b/src/new.rs
similarity index 90%
rename from src/old.rs
rename to src/new.rs
--- a/src/old.rs
+++ b/src/new.rs
@@ -3,3 +3,2 @@ fn main() {
 keep
--- a comment
 end
@@ -20 +19 @@
-a
+b
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
`;

const attempt = (fields: Partial<Attempt>) =>
  ({ number: 1, gates: [], picked: false, commit: "c0ffee", ...fields }) as Attempt;
const tried = (fields: Partial<Attempts>) =>
  ({ state: "running", needsChoice: false, attempts: [], ...fields }) as unknown as Attempts;

describe("a change as git writes it", () => {
  const files = filesOf(PATCH);

  it("is read file by file", () => {
    const heads = files.map(({ path, status, added, removed, binary }) => ({
      path,
      status,
      added,
      removed,
      binary,
    }));
    expect(heads).toEqual([
      { path: "hello.txt", status: "added", added: 2, removed: 0, binary: false },
      { path: "src/new.rs", status: "renamed", added: 1, removed: 2, binary: false },
      { path: "logo.png", status: "modified", added: 0, removed: 0, binary: true },
    ]);
  });

  it("keeps lines that look like heads, each at its place", () => {
    expect(files[0]?.hunks[0]?.lines[1]).toEqual({ kind: "added", text: "++ not a head", new: 2 });
    expect(files[1]?.hunks[0]?.lines).toEqual([
      { kind: "context", text: "keep", old: 3, new: 3 },
      { kind: "removed", text: "-- a comment", old: 4 },
      { kind: "context", text: "end", old: 5, new: 4 },
    ]);
    expect(files[1]?.hunks).toHaveLength(2);
  });
});

describe("attempts", () => {
  it("say where they stand", () => {
    expect(standing(tried({ needsChoice: true }))).toBe("All are at rest: the choice is yours.");
    expect(standing(tried({ state: "picked", picked: 2 }))).toBe("Attempt 2 was picked.");
    expect(standing(tried({ state: "dropped" }))).toBe("All of them were put away.");
  });

  it("are judged by their gates", () => {
    expect(gatesOf(attempt({ gatesPassed: true })).word).toBe("gates passed");
    const gates = [{ gate: "test", passed: false, detail: "2 failed" }];
    expect(gatesOf(attempt({ gatesPassed: false, gates }))).toEqual({
      word: "test failed",
      tone: "bad",
      why: "2 failed",
    });
    expect(needsForce(attempt({ gatesPassed: null }))).toBe(true);
    expect(needsForce(attempt({ gatesPassed: true }))).toBe(false);
  });

  it("can be picked once there is something to pick", () => {
    expect(whyNotPick(tried({}), attempt({}))).toBeUndefined();
    expect(whyNotPick(tried({}), attempt({ commit: null }))).toBe("It has made no commit yet.");
    expect(whyNotPick(tried({ state: "picked" }), attempt({}))).toBe("The choice was made.");
  });
});
