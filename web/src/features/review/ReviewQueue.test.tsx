import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPart } from "../../../tests/renderPart";
import type { ReviewRow } from "../../api/types";
import { ReviewQueue } from "./ReviewQueue";

const row = (bead: string, more: Partial<ReviewRow> = {}): ReviewRow => ({
  ...{ bead, projectId: "p", title: `Change ${bead}`, status: "review", target: "main" },
  ...{ files: 2, added: 12, removed: 3, risks: [], pending: 0, rounds: 0 },
  waitingSince: "2026-11-15T10:00:00Z",
  ...more,
});

it("R1 each entry tells its size, its risks, what the checks say and since when it waits", () => {
  renderPart(
    <ReviewQueue
      rows={[
        row("a", { gates: true, risks: ["database"] }),
        row("b", { gates: false, rounds: 2, pending: 1 }),
        row("c"),
      ]}
    />,
  );
  const entry = (bead: string) => {
    const found = document.querySelector<HTMLElement>(`[data-review="${bead}"]`);
    if (!found) throw new Error(`no entry of ${bead}`);
    return within(found);
  };
  const said = { a: "Checks passed", b: "Checks failed", c: "No checks yet" };
  for (const [bead, words] of Object.entries(said)) {
    entry(bead).getByText(words);
    for (const other of Object.values(said)) {
      if (other !== words) expect(entry(bead).queryByText(other)).toBeNull();
    }
    entry(bead).getByText("2 files");
    expect(document.querySelector(`[data-review="${bead}"]`)?.textContent).toContain("+12 −3");
    expect(entry(bead).getByText(/ago$/).getAttribute("datetime")).toBe("2026-11-15T10:00:00Z");
  }
  entry("a").getByText("database");
  expect(entry("b").queryByText("database")).toBeNull();
  entry("b").getByText("2 rounds");
  entry("b").getByText("1 unsent");
  screen.getByText("Change a");
});
