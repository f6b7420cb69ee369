import { QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { fakeServer, ok, refuse, SESSION } from "../../../../tests/fakeServer";
import type { Bead, BeadDetail } from "../../../api/types";
import { Toaster } from "../../../change/Toaster";
import { dismiss } from "../../../change/toasts";
import { newQueryClient } from "../../../queryClient";
import { SessionProvider } from "../../../roles/session";
import { bead } from "../fakeBead";
import { BeadGraph } from "../graph";
import { beadKey } from "../queries";
import { Links } from "./Links";

const BEAD: BeadDetail = { ...bead("b-1"), checkedCommits: [] };

function show(routes: Parameters<typeof fakeServer>[0]) {
  for (let id = 0; id < 200; id += 1) dismiss(id);
  const client = newQueryClient();
  client.setQueryData<Bead>(beadKey(BEAD.id), BEAD);
  const calls = fakeServer(routes);
  render(
    <QueryClientProvider client={client}>
      <SessionProvider value={SESSION}>
        <Links bead={BEAD} graph={new BeadGraph([BEAD, bead("b-2")])} onOpen={() => undefined} />
        <Toaster />
      </SessionProvider>
    </QueryClientProvider>,
  );
  const links = () => client.getQueryData<Bead>(beadKey(BEAD.id))?.links;
  fireEvent.change(screen.getByLabelText("The other bead"), { target: { value: "b-2" } });
  fireEvent.click(screen.getByRole("button", { name: "Link" }));
  return { calls, links };
}

it("B4 a link is there at once, and Undo takes it away", async () => {
  const link = { type: "blocks", target: "b-2" };
  const { calls, links } = show({
    "POST /api/v1/beads/b-1/links?projectId=p": () => ok({ ...BEAD, links: [link] }),
    "DELETE /api/v1/beads/b-1/links/blocks/b-2?projectId=p": () => ok(BEAD),
  });
  await expect.poll(links).toEqual([link]);
  await screen.findByText("Linked to b-2");
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  await expect.poll(() => calls.map(({ method }) => method)).toContain("DELETE");
});

it("B4 a circle is refused with the reason, and the link is gone again", async () => {
  const { links } = show({
    "POST /api/v1/beads/b-1/links?projectId=p": () =>
      refuse(409, "bead_circle", "that would make a circle: b-1 -> b-2 -> b-1"),
  });
  await screen.findByText("Not done: Link b-1 to b-2");
  screen.getByText(/would make a circle/);
  await expect.poll(links).toEqual([]);
});
