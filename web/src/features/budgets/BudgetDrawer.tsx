import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Budget } from "../../api/types";
import { toast } from "../../change/toasts";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError, useForm } from "../../ui/form/form";
import { usersQuery } from "../costs/queries";
import { useProject } from "../projects/queries";
import {
  amountOf,
  microsOf,
  PERIOD_TITLES,
  PERIODS,
  type Period,
  SCOPES,
  type ScopeKind,
  scopeParts,
  setCli,
} from "./budgets";
import { budgetsQuery, setBudget } from "./queries";
import { Trial } from "./Trial";

const SCOPE_TITLES: Record<ScopeKind, string> = {
  tenant: "Everything",
  project: "A project",
  user: "A person",
  agent: "An agent",
  bead: "A bead",
  convoy: "A convoy",
  token: "A token",
};

/** Sets or changes a limit, and tells what it would have done so far. */
export function BudgetDrawer({
  budget,
  onClose,
}: {
  budget: Budget | undefined;
  onClose: () => void;
}) {
  const form = useBudgetForm(budget, onClose);
  const { values, set } = form;
  const micros = microsOf(values.amount);
  const warn = Number(values.warn);
  const { fields, rest } = placeError(form.error, {
    name: /scope|\bid\b|project|user|not_found|no such/i,
    amount: /cap|amount|micro/i,
    warn: /warn|percent/i,
  });
  const isAmountBad = values.amount !== "" && micros === undefined;
  return (
    <FormDrawer
      title={budget ? "Change the budget" : "Set a budget"}
      act={budget ? "Change the budget" : "Set the budget"}
      onClose={onClose}
      form={form}
      can="budget:update:team"
      refused={whyNot(values, micros)}
      error={rest}
      cli={micros ? setCli(scopeOf(values), values.period as Period, micros, warn) : undefined}
    >
      {!budget && <Scope values={values} set={set} error={fields.name} />}
      <TextField
        label="Hard stop, in dollars"
        value={values.amount}
        inputMode="decimal"
        placeholder="200"
        autoFocus
        error={isAmountBad ? "Write dollars, such as 200 or 0.25." : fields.amount}
        note="Requests that would cost more are refused before a provider is asked."
        onChange={(event) => set("amount", event.target.value)}
      />
      <TextField
        label="Warn from, in percent"
        value={values.warn}
        type="number"
        min={1}
        max={100}
        error={fields.warn}
        note="From here on there is an event budget:warning."
        onChange={(event) => set("warn", event.target.value)}
      />
      {micros !== undefined && whyNot(values, micros) === undefined && (
        <Trial scope={scopeOf(values)} period={values.period as Period} capMicros={micros} />
      )}
    </FormDrawer>
  );
}

type Values = Record<"kind" | "name" | "period" | "amount" | "warn", string>;

function useBudgetForm(budget: Budget | undefined, onClose: () => void) {
  const client = useQueryClient();
  const { kind, name } = scopeParts(budget?.scope ?? "tenant");
  return useForm<Values, Budget>({
    draft: `budget.${budget?.id ?? "new"}`,
    initial: {
      kind,
      name,
      period: budget?.period ?? "monthly",
      amount: budget ? amountOf(budget.capMicros) : "",
      warn: String(budget?.warnPercent ?? 80),
    },
    send: (values) =>
      setBudget({
        scope: scopeOf(values),
        period: values.period,
        capMicros: microsOf(values.amount) ?? 0,
        warnPercent: Number(values.warn),
      }),
    done: () => {
      client.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      toast({ title: "The budget is set" });
      onClose();
    },
  });
}

function scopeOf({ kind, name }: Values): string {
  return kind === "tenant" ? kind : `${kind}:${name.trim()}`;
}

function whyNot({ kind, name }: Values, micros: number | undefined): string | undefined {
  if (micros === undefined) return "Say how much may be spent.";
  if (kind !== "tenant" && name.trim() === "") return "Say whose spending it limits.";
  return undefined;
}

/** Whose spending is limited, and for how long; that stays when a budget is changed. */
function Scope({
  values,
  set,
  error,
}: Pick<ReturnType<typeof useBudgetForm>, "values" | "set"> & { error?: string | undefined }) {
  return (
    <>
      <Choice
        label="Whose spending"
        value={values.kind}
        options={SCOPES.map((one) => [one, SCOPE_TITLES[one]])}
        onChange={(next) => {
          set("kind", next);
          set("name", "");
        }}
      />
      <Whose
        kind={values.kind as ScopeKind}
        value={values.name}
        error={error}
        onChange={(next) => set("name", next)}
      />
      <Choice
        label="It begins anew"
        value={values.period as Period}
        options={PERIODS.map((one) => [one, PERIOD_TITLES[one]])}
        onChange={(next) => set("period", next)}
        note="Days and months begin at midnight in UTC."
      />
    </>
  );
}

function Whose({
  kind,
  value,
  error,
  onChange,
}: {
  kind: ScopeKind;
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const { projects } = useProject();
  const users = useQuery({ ...usersQuery, enabled: kind === "user" });
  if (kind === "tenant") return null;
  if (kind === "project" || kind === "user") {
    const known = kind === "project" ? projects : (users.data?.items ?? []);
    return (
      <Choice
        label={kind === "project" ? "Project" : "Person"}
        value={value}
        options={[["", "Choose"], ...known.map(({ id, name }) => [id, name] as const)]}
        onChange={onChange}
      />
    );
  }
  const label = { agent: "Agent", bead: "Bead", convoy: "Convoy", token: "Token" }[kind];
  return (
    <TextField
      label={`${label}, by name or id`}
      value={value}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
