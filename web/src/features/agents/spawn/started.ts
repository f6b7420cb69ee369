import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError, post } from "../../../api/client";
import type { Agent, Bead } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { tellRefusal } from "../../../change/useChange";
import { navigate } from "../../../router/router";
import { asSentences } from "../../../ui/Sentence";
import { fieldOf, type SpawnField } from "./form";

/** Tells of a new agent, with the way to it, and shows it in all lists. */
export function useTellStarted(): (agent: Agent) => void {
  const client = useQueryClient();
  return (agent) => {
    client.invalidateQueries({ queryKey: ["agents"] });
    toast({
      title: `${agent.label} is on its way`,
      action: { label: "Open", run: () => navigate(`/agents/${agent.id}`) },
    });
  };
}

/** Marks a start that is not answered yet. */
export const STARTING = ["agent-start"] as const;

/** What the project has to say and did not, or not so that it works: only a person can choose it. */
const CHOSEN: readonly SpawnField[] = ["role", "harness", "model", "runtime", "sandbox"];

/**
 * Starts an agent on a bead as its project says. Nothing of it is shown before the answer: its name and its turn are
 * for the server to say.
 */
export function useStartAgent(): UseMutationResult<Agent, Error, Bead> {
  const tell = useTellStarted();
  const start = useMutation<Agent, Error, Bead>({
    mutationKey: STARTING,
    mutationFn: ({ id, projectId }) => post("/api/v1/agents", { bead: id, projectId }),
    onSuccess: tell,
    onError: (error, bead) => {
      const what = `Start an agent on ${bead.id}`;
      const field = fieldOf(error);
      if (field && CHOSEN.includes(field)) tellChoice(what, error, bead);
      else tellRefusal(what, error, () => start.mutate(bead));
    },
  });
  return start;
}

/** To try again would end the same way, so the form is offered that has the missing field. */
function tellChoice(what: string, error: Error, bead: Bead): void {
  const hint = error instanceof ApiError ? error.hint : undefined;
  toast({
    tone: "bad",
    title: `Not done: ${what}`,
    detail: asSentences(error.message, hint).replaceAll("`", ""),
    action: {
      label: "Choose",
      run: () => navigate(`/agents?spawn=${encodeURIComponent(bead.id)}`),
    },
  });
}
