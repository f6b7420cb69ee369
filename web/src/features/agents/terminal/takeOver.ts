import { useEffect, useEffectEvent } from "react";
import type { Agent } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { useRefusal } from "../../../roles/session";
import { setParams, useParam } from "../../../router/router";
import { CONTROL } from "../actions";
import { AT_WORK } from "../queries";
import { useForeignAgent } from "../useForeignAgent";
import type { ShellSession, Shown } from "./session";

/** Why no shell can be opened beside an agent now. */
export function whyNoShell({ label, lifecycleState }: Agent): string | undefined {
  if (AT_WORK.includes(lifecycleState)) return undefined;
  return `${label} is ${lifecycleState}; there is no sandbox to open a shell in.`;
}

/** Takes control of a shell; whoever has it is not overridden without a question. */
export async function takeControl(agent: Agent, session: ShellSession): Promise<void> {
  const { holder } = session.shown;
  if (holder && !(await confirmTaking(agent, holder.name))) return;
  session.socket.take(holder !== undefined);
}

function confirmTaking(agent: Agent, name: string): Promise<boolean> {
  return confirm({
    title: `Take control from ${name}?`,
    body: `${name} can go on looking, but what they type goes nowhere until control is theirs again.`,
    act: "Take control",
    cli: `godel agent attach ${agent.label} --terminal --take`,
  });
}

/**
 * Who came to take the agent over gets a shell and control of it, once: the address says so, and no longer says it
 * afterwards, so that a reload takes nothing from anybody.
 */
export function useTakeOver(agent: Agent, session: ShellSession, shown: Shown): void {
  const [wish] = useParam("take");
  const foreign = useForeignAgent()(agent);
  const refused = useRefusal(CONTROL.can) ?? foreign ?? whyNoShell(agent);
  const { phase } = shown.link;
  const isWanted = wish !== undefined;
  const isSettled = shown.hasControl || refused !== undefined;
  const go = useEffectEvent(() => {
    if (phase === "connecting" || phase === "waiting") return;
    setParams({ take: undefined });
    if (isSettled) return;
    // Who opens a shell has control of it.
    if (phase !== "open") session.socket.openShell();
    else if (shown.mayControl) takeControl(agent, session);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new standing is a reason to look again
  useEffect(() => {
    if (isWanted) go();
  }, [isWanted, isSettled, phase]);
}
