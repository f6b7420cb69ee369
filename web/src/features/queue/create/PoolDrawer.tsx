import { useQueryClient } from "@tanstack/react-query";
import { patch } from "../../../api/client";
import type { Pool, PoolPatch } from "../../../api/types";
import { toast } from "../../../change/toasts";
import { TextField } from "../../../ui/Field";
import { Choice } from "../../../ui/form/Choice";
import { FormDrawer } from "../../../ui/form/FormDrawer";
import { placeError, useForm } from "../../../ui/form/form";
import { queueQueries } from "../queries";
import { type PoolValues, poolChange, poolCli, poolFaults, poolValues } from "./poolForm";

/** Who of several workers gets a task. */
const PLACEMENTS = [
  ["least-loaded", "Who has the most room"],
  ["round-robin", "Who has waited longest"],
  ["affinity", "Who had the last task of its session"],
] as const;

/** Sets how a pool hands its tasks out, and when people are told of dead letters. */
export function PoolDrawer({ pool, onClose }: { pool: Pool; onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm<PoolValues, Pool>({
    draft: `pool.${pool.name}`,
    initial: poolValues(pool),
    send: (values) => {
      const change: PoolPatch = poolChange(pool, values);
      return patch(`/api/v1/queue/pools/${encodeURIComponent(pool.name)}`, change);
    },
    done: () => {
      client.invalidateQueries({ queryKey: queueQueries.pools.queryKey });
      toast({ title: `The pool ${pool.name} works so from now on` });
      onClose();
    },
  });
  const { values, set } = form;
  const wrong = poolFaults(values);
  const { fields, rest } = placeError(form.error, {
    ageing: /ageing/i,
    placement: /placement/i,
    alert: /deadAlert|alert/i,
  });
  const unready = Object.keys(wrong).length > 0 ? "Something above is not right yet." : undefined;
  return (
    <FormDrawer
      title={`The pool ${pool.name}`}
      act="Set it so"
      onClose={onClose}
      form={form}
      can="task:update:team"
      refused={unready ?? (form.isDirty ? undefined : "Nothing was changed yet.")}
      error={rest}
      cli={poolCli(pool, values)}
    >
      <TextField
        label="A task rises by one priority after, in seconds"
        value={values.ageing}
        inputMode="numeric"
        placeholder="never"
        autoFocus
        error={wrong.ageing ?? fields.ageing}
        note="Leave it empty to let no task rise."
        onChange={(event) => set("ageing", event.target.value)}
      />
      <Choice
        label="Who gets a task"
        value={values.placement}
        options={PLACEMENTS}
        onChange={(next) => set("placement", next)}
      />
      <TextField
        label="Tell people from this many dead letters on"
        value={values.alert}
        inputMode="numeric"
        placeholder="never"
        error={wrong.alert ?? fields.alert}
        note="There is one event pool:alert, and no other before less than half are left."
        onChange={(event) => set("alert", event.target.value)}
      />
    </FormDrawer>
  );
}
