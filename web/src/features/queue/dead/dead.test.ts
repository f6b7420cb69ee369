import { describe, expect, it } from "vitest";
import type { Task } from "../../../api/types";
import { deadFile } from "./exportDead";
import { replayCli, replayQuestion } from "./queries";

const TASK = {
  id: "1",
  title: 'build "web"',
  pool: "ci",
  priority: "medium",
  attempt: 1,
  createdAt: "2026-11-01T00:00:00Z",
  error: "=cmd, exit code 137",
  payload: { branch: "main" },
} as unknown as Task;

describe("dead letters", () => {
  it("are replayed by what is filtered, or all by name", () => {
    const all = { pool: "", error: "", title: "" };
    expect(replayCli(all)).toBe("godel dead replay --all --yes");
    expect(replayCli({ ...all, pool: "ci", error: "exit code 137" })).toBe(
      "godel dead replay --pool ci --error 'exit code 137' --yes",
    );
  });

  it("are not counted in the question, for more may come before it is answered", () => {
    const all = { pool: "", error: "", title: "" };
    expect(replayQuestion(all)).toBe("Replay all dead letters?");
    expect(replayQuestion({ ...all, title: "build" })).toBe("Replay all dead letters that match?");
  });

  it("become lines of JSON that say everything", async () => {
    expect(JSON.parse(await deadFile([TASK], "jsonl").text())).toEqual(TASK);
  });

  it("become a table in which nothing is a formula", async () => {
    const [head, row] = (await deadFile([TASK], "csv").text()).split("\r\n");
    expect(head?.split(",")).toHaveLength(12);
    expect(row).toBe(
      `1,"build ""web""",ci,medium,1,2026-11-01T00:00:00Z,,,"'=cmd, exit code 137",,,"{""branch"":""main""}"`,
    );
  });
});
