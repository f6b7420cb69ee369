import { post } from "../../../api/client";
import type { Run, RunStep } from "../../../api/types";
import { useChange } from "../../../change/useChange";
import { navigate } from "../../../router/router";

const runPath = (id: string) => `/api/v1/runs/${encodeURIComponent(id)}` as const;
const stepsKey = (id: string) => ["run", id, "steps"] as const;
const settle = ({ run }: { run: Run }) => [["runs"], ["run", run.id]];

interface OfStep {
  run: Run;
  step: RunStep;
}

function expectState(step: string, state: string) {
  return (steps: RunStep[]) => steps.map((one) => (one.id === step ? { ...one, state } : one));
}

/** Does a step anew that is over, and all that depends on it. */
export function useRetryStep() {
  return useChange<OfStep, Run>({
    what: ({ step }) => `Retry from ${step.id}`,
    send: ({ run, step }) => post(`${runPath(run.id)}/retry`, { steps: [step.id] }),
    expect: (cache, { run, step }) => cache.update(stepsKey(run.id), expectState(step.id, "ready")),
    settle,
    done: ({ step }) => `${step.id} is done anew, and what depends on it`,
  });
}

/** Answers a step that asks a person. */
export function useAnswerStep() {
  return useChange<OfStep & { approve: boolean; note?: string }, Run>({
    what: ({ step, approve }) => `${approve ? "Approve" : "Reject"} ${step.id}`,
    send: ({ run, step, approve, note }) =>
      post(`${runPath(run.id)}/answer`, { step: step.id, approve, ...(note && { note }) }),
    expect: (cache, { run, step, approve }) =>
      cache.update(stepsKey(run.id), expectState(step.id, approve ? "succeeded" : "failed")),
    settle,
    done: ({ step, approve }) => `${step.id} is ${approve ? "approved" : "rejected"}`,
  });
}

/** Runs the same stored workflow once more with the same inputs. */
export function useRerun() {
  return useChange<{ run: Run }, Run>({
    what: ({ run }) => `Run ${run.name} again`,
    send: async ({ run }) => {
      const made = await post("/api/v1/runs", {
        workflow: run.workflowId,
        inputs: run.inputs,
      });
      navigate(`/queue/runs/${made.id}`);
      return made;
    },
    settle,
    done: ({ run }) => `${run.name} runs again`,
  });
}
