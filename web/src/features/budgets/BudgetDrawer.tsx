import { useQuery } from "@tanstack/react-query";
import type { Budget } from "../../api/types";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError } from "../../ui/form/form";
import { WhatChanges } from "../../ui/form/WhatChanges";
import { usersQuery } from "../costs/queries";
import { useProject } from "../projects/queries";
import {
  differences,
  graceOf,
  settingOf,
  useBudgetForm,
  type Values,
  valuesOf,
  whyNot,
} from "./budgetForm";
import {
  microsOf,
  PERIOD_TITLES,
  PERIODS,
  type Period,
  SCOPES,
  type ScopeKind,
  setCli,
  tellStop,
} from "./budgets";
import { TellField } from "./TellField";
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

/** Which answer of the server belongs to which field; a grace is in percent, too, so it comes first. */
const FIELD_WORDS = {
  name: /scope|\bid\b|project|user|not_found|no such/i,
  amount: /cap|amount|micro/i,
  grace: /grace|passed/i,
  warn: /warn|percent/i,
  tell: /tell|told/i,
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
  const { values, set, people } = form;
  const { fields, rest } = placeError(form.error, FIELD_WORDS);
  const refused = whyNot(values, people);
  const setting = settingOf(values, people);
  const nameOf = (id: string) => people?.find((one) => one.id === id)?.name ?? id;
  const command = () => setCli({ ...setting, tell: setting.tell.map(nameOf) }, budget);
  return (
    <FormDrawer
      title={budget ? "Change the budget" : "Set a budget"}
      act={budget ? "Change the budget" : "Set the budget"}
      onClose={onClose}
      form={form}
      can="budget:update:team"
      refused={refused}
      error={rest}
      cli={setting.capMicros > 0 ? command() : undefined}
    >
      {!budget && <Scope values={values} set={set} error={fields.name} />}
      <Limit values={values} set={set} fields={fields} />
      <TellField values={values} set={set} people={people} error={fields.tell} />
      {budget && refused === undefined && (
        <WhatChanges changes={differences(valuesOf(budget), values, nameOf)} />
      )}
      {refused === undefined && (
        <Trial
          scope={setting.scope}
          period={setting.period}
          capMicros={setting.capMicros}
          hardStop={setting.hardStop}
          gracePercent={setting.gracePercent}
        />
      )}
    </FormDrawer>
  );
}

interface FieldProps {
  values: Values;
  set: (name: keyof Values, value: string) => void;
}

/** How much may be spent, from where on it warns, and from where on requests are refused. */
function Limit({
  values,
  set,
  fields,
}: FieldProps & { fields: Partial<Record<"amount" | "warn" | "grace", string>> }) {
  const capMicros = microsOf(values.amount);
  const isAmountBad = values.amount !== "" && capMicros === undefined;
  return (
    <>
      <TextField
        label="Limit, in dollars"
        value={values.amount}
        inputMode="decimal"
        placeholder="200"
        autoFocus
        error={isAmountBad ? "Write dollars, such as 200 or 0.25." : fields.amount}
        note="What may be spent until it begins anew."
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
      <Choice
        label="Hard stop"
        value={values.stop}
        options={[
          ["on", "On: requests are refused"],
          ["off", "Off: only tell"],
        ]}
        note={
          values.stop === "on"
            ? "Requests that would cost more are refused before a provider is asked."
            : "When the limit is reached somebody is told, and that is all."
        }
        onChange={(next) => set("stop", next)}
      />
      <Grace values={values} set={set} error={fields.grace} capMicros={capMicros} />
    </>
  );
}

function Grace({
  values,
  set,
  error,
  capMicros,
}: FieldProps & { error: string | undefined; capMicros: number | undefined }) {
  const isOff = values.stop !== "on";
  const gracePercent = graceOf(values);
  const note = isOff
    ? "The hard stop is off: nothing is refused, so there is no grace."
    : capMicros !== undefined && gracePercent !== undefined
      ? tellStop({ capMicros, hardStop: true, gracePercent })
      : "By so much the limit may be passed before requests are refused.";
  const isBad = !isOff && gracePercent === undefined;
  return (
    <TextField
      label="Grace, in percent"
      value={values.grace}
      type="number"
      min={0}
      max={100}
      disabled={isOff}
      error={isBad ? "Write a whole number from 0 to 100." : error}
      note={note}
      onChange={(event) => set("grace", event.target.value)}
    />
  );
}

/** Whose spending is limited, and for how long; that stays when a budget is changed. */
function Scope({ values, set, error }: FieldProps & { error: string | undefined }) {
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
