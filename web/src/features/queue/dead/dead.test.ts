import { describe, expect, it } from "vitest";
import type { Task } from "../../../api/types";
import { deadFile } from "./exportDead";
import { replayCli, replayQuestion } from "./queries";
import { deleteCli, deletedToast, deleteQuestion } from "./useDeleteDead";

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

  it("are deleted by name, by what is filtered, or all", () => {
    const all = { pool: "", error: "", title: "" };
    const other = { ...TASK, id: "2" };
    expect(deleteCli({ tasks: [TASK, other] })).toBe("godel dead delete 1 2 --yes");
    expect(deleteCli({ filter: { ...all, pool: "ci" } })).toBe("godel dead delete --pool ci --yes");
    expect(deleteCli({ filter: all })).toBe("godel dead delete --all --yes");
    expect(deleteQuestion({ tasks: [TASK] }).title).toBe('Delete build "web"?');
    expect(deleteQuestion({ tasks: [TASK, other] }).title).toBe("Delete 2 dead letters?");
    expect(deleteQuestion({ filter: all }).title).toBe("Delete all dead letters?");
    expect(deleteQuestion({ filter: { ...all, error: "x" } }).title).toBe(
      "Delete all dead letters that match?",
    );
  });

  it("that stay are told of", () => {
    expect(deletedToast({ deleted: 1, kept: 0 })).toEqual({ title: "1 dead letter deleted" });
    expect(deletedToast({ deleted: 0, kept: 2 })).toEqual({
      title: "No dead letter is deleted",
      detail: "2 stay: their runs are not over.",
    });
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
