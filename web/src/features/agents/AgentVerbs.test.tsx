import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeAgent } from "../../../tests/fakeAgent";
import { DEVELOPER, fakeServer, ok, refuse, SESSION } from "../../../tests/fakeServer";
import { renderPart } from "../../../tests/renderPart";
import { useKeys } from "../../actions/listener";
import type { Agent } from "../../api/types";
import { Toaster } from "../../change/Toaster";
import { dismiss } from "../../change/toasts";
import { Menu } from "../../ui/Menu";
import { AgentVerbs } from "./AgentVerbs";
import { useAgentActs, useAgentKeys } from "./useAgentActs";

const OTHERS = fakeAgent();
const OWN = fakeAgent({ id: "a2", label: "worker-2", userId: DEVELOPER.userId });
const WHY =
  "worker-1 is not yours: Your role developer does not allow this; it needs agent:execute:team.";

function Acts({ agents }: { agents: readonly [Agent, ...Agent[]] }) {
  const { act, menuOf } = useAgentActs();
  useKeys();
  useAgentKeys(agents[0], act);
  return (
    <>
      <AgentVerbs agents={agents} act={act} />
      <Menu label="More" items={menuOf(agents[0])} />
    </>
  );
}

const button = (name: string) => screen.getByRole("button", { name });
const isOff = (name: string) => button(name).getAttribute("aria-disabled") === "true";
const hint = (name: string) =>
  document.getElementById(button(name).getAttribute("aria-describedby") ?? "")?.textContent;

describe("G14 an agent of somebody else", () => {
  let calls: ReturnType<typeof fakeServer>;
  const sent = () => calls.filter(({ method }) => method === "POST").map(({ path }) => path);
  beforeEach(() => {
    calls = fakeServer({
      "POST /api/v1/agents/a1/pause": () => ok(OTHERS),
      "POST /api/v1/agents/a2/pause": () => ok(OWN),
    });
  });

  it("is led by no button, no line of a menu and no key, and each says why", () => {
    renderPart(<Acts agents={[OTHERS]} />, DEVELOPER);
    for (const verb of ["Message", "Pause", "Take over", "Restart", "Snapshot", "Fork", "End"]) {
      expect(hint(verb), verb).toBe(WHY);
      expect(isOff(verb), verb).toBe(true);
      fireEvent.click(button(verb));
    }
    fireEvent.keyDown(document.body, { key: "p" });
    fireEvent.click(button("More"));
    fireEvent.click(screen.getByRole("menuitem", { name: /^Pause/ }));
    expect(sent()).toEqual([]);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("is left out when many are led, and all of them together say why", async () => {
    const { unmount } = renderPart(<Acts agents={[OTHERS, OWN]} />, DEVELOPER);
    expect(isOff("Pause")).toBe(false);
    fireEvent.click(button("Pause"));
    await vi.waitFor(() => expect(sent()).toEqual(["/api/v1/agents/a2/pause"]));
    unmount();
    renderPart(<Acts agents={[OTHERS, { ...OTHERS, id: "a3" }]} />, DEVELOPER);
    expect(hint("Pause")).toBe(WHY);
  });

  it("is led by who may lead those of the team", async () => {
    renderPart(<Acts agents={[OTHERS]} />, { ...SESSION, userId: "u9" });
    fireEvent.keyDown(document.body, { key: "p" });
    await vi.waitFor(() => expect(sent()).toEqual(["/api/v1/agents/a1/pause"]));
  });
});

describe("G6 a verb for many agents", () => {
  const many = ["a1", "a2", "a3", "a4", "a5"].map((id) => fakeAgent({ id, label: `w-${id}` }));
  const [first, ...others] = many as [Agent, ...Agent[]];
  const show = (routes: Parameters<typeof fakeServer>[0]) => {
    // Messages of what was done before are gone.
    for (let id = 0; id < 200; id += 1) dismiss(id);
    const calls = fakeServer(routes);
    renderPart(
      <>
        <Acts agents={[first, ...others]} />
        <Toaster />
      </>,
    );
    return calls;
  };
  const routes = (verb: string, except: readonly string[] = []) =>
    Object.fromEntries(
      many.map(({ id }) => [
        `POST /api/v1/agents/${id}/${verb}`,
        () => (except.includes(id) ? refuse(409, "agent_refused", "it is busy") : ok({ id })),
      ]),
    );
  const posted = (calls: ReturnType<typeof fakeServer>, verb: string) =>
    calls.filter(({ path }) => path.endsWith(`/${verb}`)).length;

  it("is one message, and one Undo takes back all of it", async () => {
    const calls = show({ ...routes("pause"), ...routes("resume") });
    fireEvent.click(button("Pause"));
    await screen.findByText("5 agents: paused");
    expect(screen.getAllByRole("button", { name: "Undo" })).toHaveLength(1);
    fireEvent.click(button("Undo"));
    await expect.poll(() => posted(calls, "resume")).toBe(5);
  });

  it("says which refused and why, and takes back only what was done", async () => {
    const calls = show({ ...routes("pause", ["a2", "a4"]), ...routes("resume") });
    fireEvent.click(button("Pause"));
    await screen.findByText("3 of 5 agents: paused");
    screen.getByText("Not done: Pause w-a2, w-a4");
    screen.getByText("It is busy.");
    fireEvent.click(button("Undo"));
    await expect.poll(() => posted(calls, "resume")).toBe(3);
    // Only those two are tried again.
    fireEvent.click(button("Retry"));
    await expect.poll(() => posted(calls, "pause")).toBe(7);
  });

  it("that all refuse is not done, and can be tried again", async () => {
    show(
      routes(
        "pause",
        many.map(({ id }) => id),
      ),
    );
    fireEvent.click(button("Pause"));
    await screen.findByText("Not done: Pause 5 agents");
    button("Retry");
  });
});
