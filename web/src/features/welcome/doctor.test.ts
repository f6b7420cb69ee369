import { describe, expect, it } from "vitest";
import type { DoctorCheck, RuntimeInfo } from "../../api/types";
import { faultsIn, programsIn, recommended } from "./doctor";

const runtime = (name: string, isolation?: string): RuntimeInfo => ({
  name,
  about: "",
  offered: isolation !== undefined,
  ...(isolation && { isolation }),
});
const test = (name: string, ok: boolean, checks: DoctorCheck[] = []) => ({ name, ok, checks });
const programs = (status: string, message: string) =>
  programsIn({ tests: [test("worktree", true, [{ name: "harnesses", status, message }])] });

describe("X5 the doctor of the setup", () => {
  it("recommends the strongest walls that work", () => {
    const runtimes = [runtime("worktree", "process"), runtime("gvisor", "userspace_kernel")];
    const best = (worktree: boolean, gvisor: boolean) =>
      recommended({ runtimes, tests: [test("worktree", worktree), test("gvisor", gvisor)] })?.name;
    expect(best(true, true)).toBe("gvisor");
    expect(best(true, false)).toBe("worktree");
    expect(best(false, false)).toBeUndefined();
    expect(recommended({ runtimes, tests: [] })).toBeUndefined();
  });

  it("finds agent programs in what the server says", () => {
    expect(programs("ok", "claude 2.1.197, codex 0.166.0")).toEqual({
      found: [
        { name: "claude", version: "2.1.197" },
        { name: "codex", version: "0.166.0" },
      ],
      besides: undefined,
    });
    const none = "none of claude, codex, pi is on the PATH; Godel has its own agent";
    expect(programs("skip", none)).toMatchObject({ found: [], besides: { message: none } });
    expect(programsIn({ tests: [] })).toEqual({ found: [], besides: undefined });
  });

  it("does not take one that is too old for one that can be used", () => {
    const old = "pi 0.90.2; codex 0.1.0 is older than 0.166.0, the oldest that was tried";
    const { found, besides } = programs("warn", old);
    expect(found).toEqual([{ name: "pi", version: "0.90.2" }]);
    expect(besides?.status).toBe("warn");
  });

  it("does not blame a runtime for programs that are missing", () => {
    const checks = [
      { name: "git", status: "ok", message: "git version 2.47.3" },
      { name: "gvisor", status: "fail", message: "runsc is missing" },
      { name: "harnesses", status: "warn", message: "claude does not say its version" },
    ];
    expect(faultsIn(test("gvisor", false, checks)).map(({ name }) => name)).toEqual(["gvisor"]);
    expect(faultsIn(undefined)).toEqual([]);
  });
});
