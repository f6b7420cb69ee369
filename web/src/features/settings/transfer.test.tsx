import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { newQueryClient } from "../../queryClient";
import { SessionProvider } from "../../roles/session";
import { readSettings, TransferSection } from "./TransferSection";

const SETTINGS = { format: "godel-settings/1", projects: [], budgets: [] };
const CHANGES = [
  {
    kind: "project",
    name: "web",
    isNew: false,
    fields: [{ name: "maxAgents", before: "3", after: null }],
  },
  {
    kind: "budget",
    name: "tenant, monthly",
    isNew: true,
    fields: [{ name: "capMicros", before: null, after: "5000000" }],
  },
];

const show = () =>
  render(
    <QueryClientProvider client={newQueryClient()}>
      <SessionProvider value={SESSION}>
        <TransferSection />
      </SessionProvider>
    </QueryClientProvider>,
  );

const choose = (text: string) => {
  const file = new File([text], "settings.json", { type: "application/json" });
  fireEvent.change(screen.getByLabelText(/A file of settings/), { target: { files: [file] } });
};

describe("settings as a file", () => {
  it("S2 what would change is shown before it is made, field by field", async () => {
    const calls = fakeServer({
      "POST /api/v1/settings/import": ({ body }) =>
        ok({ applied: !(body as { dryRun?: boolean }).dryRun, changes: CHANGES }),
    });
    show();
    choose(JSON.stringify(SETTINGS));
    await screen.findByText("maxAgents: 3 → none");
    screen.getByText("capMicros: 5000000");
    screen.getByText("changed project");
    screen.getByText("new budget");
    expect(calls.map(({ body }) => body)).toEqual([{ settings: SETTINGS, dryRun: true }]);
    fireEvent.click(screen.getByRole("button", { name: "Make 2 changes" }));
    await expect.poll(() => calls.length).toBe(2);
    expect(calls[1]?.body).toEqual({ settings: SETTINGS });
    await expect.poll(() => screen.queryByText("maxAgents: 3 → none")).toBeNull();
  });

  it("S2 a file that the server refuses changes nothing, and says why", async () => {
    const calls = fakeServer({
      "POST /api/v1/settings/import": () =>
        refuse(400, "invalid_field", "there is nothing here that project:x could mean"),
    });
    show();
    choose(JSON.stringify(SETTINGS));
    await screen.findByText(/nothing here that project:x could mean/);
    expect(screen.queryByRole("button", { name: /^Make/ })).toBeNull();
    expect(calls).toHaveLength(1);
  });

  it("S2 what is no file of settings is not sent", async () => {
    const calls = fakeServer({});
    show();
    choose("not JSON");
    await screen.findByText("This is no file of settings; Export writes one.");
    expect(calls).toHaveLength(0);
    await expect(readSettings(new Blob(["[1]"]))).rejects.toThrow("no file of settings");
    await expect(readSettings(new Blob(["x".repeat(1_000_001)]))).rejects.toThrow("too large");
    await expect(readSettings(new Blob([JSON.stringify(SETTINGS)]))).resolves.toEqual(SETTINGS);
  });
});
