import { useQueryClient } from "@tanstack/react-query";
import { post } from "../../../api/client";
import type { Attempts } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { TextField } from "../../../ui/Field";
import { Choice } from "../../../ui/form/Choice";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { placeError, useForm } from "../../../ui/form/form";
import { plural } from "../../../ui/format";
import { HARNESSES } from "../../agents/spawn/form";
import { UsedUpNotice } from "../../budgets/UsedUpNote";
import { budgetFault } from "../../intents/wish";
import { beadPath } from "../queries";
import { attemptQueries, type TriedBead } from "./queries";
import { EMPTY_WAYS, type Ways, waysCli, waysFault, waysOf } from "./ways";

/** Worktrees are made before it is answered. */
const START_MS = 60_000;

/** Lets several agents try a bead, each by itself. */
export function TryDrawer({ bead, onClose }: { bead: TriedBead; onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm<Ways, Attempts>({
    draft: `try.${bead.id}`,
    initial: EMPTY_WAYS,
    send: (values) => post(beadPath(bead, "/attempts"), waysOf(values), START_MS),
    done: (begun) => {
      client.setQueryData(attemptQueries.of(bead).queryKey, begun);
      toast({ title: `${plural(begun.attempts.length, "agent")} try ${bead.id}` });
      onClose();
    },
  });
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, {
    models: /model/i,
    harness: /harness/i,
    budget: /budget/i,
    many: /\bways\b|how many/i,
  });
  return (
    <FormDrawer
      title={`Try ${bead.id} several ways`}
      act="Let them try"
      onClose={onClose}
      form={form}
      can="agent:create:own"
      refused={waysFault(values) ?? budgetFault(values.budget)}
      error={rest}
      cli={waysCli(bead.id, values)}
    >
      <p>
        Each attempt is an agent of its own, in a worktree of its own. The bead waits until you pick
        one; nothing of the others is lost.
      </p>
      <WayFields values={values} set={set} faults={fields} />
      <UsedUpNotice projectId={bead.projectId} bead={bead.id} />
    </FormDrawer>
  );
}

interface WayFieldsProps {
  values: Ways;
  set: (name: keyof Ways, value: string) => void;
  faults: Partial<Ways>;
}

/** How many, with which models, as which agent, and for how much. */
function WayFields({ values, set, faults }: WayFieldsProps) {
  return (
    <>
      <TextField
        label="How many ways"
        value={values.many}
        inputMode="numeric"
        placeholder="3, or one for each model"
        autoFocus
        error={waysFault(values) ?? faults.many}
        note="From 2 to 8."
        onChange={(event) => set("many", event.target.value)}
      />
      <TextField
        label="With these models, in turn"
        value={values.models}
        placeholder="that of the project"
        error={faults.models}
        note="Names between commas, such as claude-opus-4-8, gpt-5.2."
        onChange={(event) => set("models", event.target.value)}
      />
      <Choice
        label="Who works"
        value={values.harness}
        options={[["", "As the project says"], ...HARNESSES.map((one) => [one, one] as const)]}
        onChange={(next) => set("harness", next)}
      />
      <TextField
        label="All together may cost, in dollars"
        value={values.budget}
        inputMode="decimal"
        placeholder="no limit of their own"
        error={budgetFault(values.budget) ?? faults.budget}
        onChange={(event) => set("budget", event.target.value)}
      />
    </>
  );
}
