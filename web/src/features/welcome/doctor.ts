import { queryOptions } from "@tanstack/react-query";
import { get } from "../../api/client";
import type { DoctorCheck, RuntimeInfo, RuntimeTest } from "../../api/types";
import { HARNESSES } from "../agents/spawn/form";
import { testRuntime } from "../settings/queries";

/** The check that looks for agent programs; it is the same in each runtime. */
const PROGRAMS = "harnesses";
/** Walls, from none to the strongest. */
const STRENGTH = ["none", "process", "container", "userspace_kernel", "microvm"];

/** The runtimes of the server, and what came of trying each. */
export interface Diagnosis {
  runtimes: readonly RuntimeInfo[];
  tests: readonly RuntimeTest[];
}

/** Tries each runtime, as `godel doctor` does; once, and again when asked. */
export const doctorQuery = queryOptions({
  queryKey: ["runtime-tests"],
  queryFn: async (): Promise<Diagnosis> => {
    const { items } = await get("/api/v1/runtimes");
    const tests = await Promise.all(items.map(({ name }) => testRuntime(name)));
    return { runtimes: items, tests };
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

/** The runtime to take: of those that work, the one with the strongest walls. */
export function recommended({ runtimes, tests }: Diagnosis): RuntimeInfo | undefined {
  const strength = ({ isolation }: RuntimeInfo) => STRENGTH.indexOf(isolation ?? "none");
  return runtimes
    .filter(({ name }) => tests.some((test) => test.name === name && test.ok))
    .toSorted((a, b) => strength(b) - strength(a))[0];
}

/** What is wrong with a runtime; agent programs are not its fault. */
export function faultsIn(test: RuntimeTest | undefined): DoctorCheck[] {
  return (test?.checks ?? []).filter(
    ({ name, status }) => name !== PROGRAMS && (status === "fail" || status === "warn"),
  );
}

/** The agent programs of a machine. */
export interface Programs {
  found: { name: string; version: string }[];
  /** What the server says besides: that there are none, or which of them cannot be used. */
  besides: DoctorCheck | undefined;
}

/** Which agent programs were found. The server tells it in a line: `claude 2.1.197, codex 0.166.0`. */
export function programsIn({ tests }: Pick<Diagnosis, "tests">): Programs {
  const check = tests.flatMap(({ checks }) => checks).find(({ name }) => name === PROGRAMS);
  // A complaint has a version too, but goes on behind it: "codex 0.1.0 is older than ..".
  const version = new RegExp(`\\b(${HARNESSES.join("|")}) (\\d+\\.\\d+\\.\\d+)(?=[,;]|$)`, "g");
  const found = [...(check?.message ?? "").matchAll(version)];
  return {
    found: found.map(([, name = "", number = ""]) => ({ name, version: number })),
    besides: check?.status === "ok" ? undefined : check,
  };
}
