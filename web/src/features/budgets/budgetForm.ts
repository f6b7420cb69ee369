import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Budget, User } from "../../api/types";
import { toast } from "../../change/toasts";
import { useCan } from "../../roles/session";
import { useForm } from "../../ui/form/form";
import type { Change } from "../../ui/form/WhatChanges";
import { money } from "../../ui/format";
import { usersQuery } from "../costs/queries";
import {
  amountOf,
  microsOf,
  type Period,
  type Setting,
  scopeParts,
  TOLD_MOST,
  WARN_PERCENT,
} from "./budgets";
import { budgetsQuery, setBudget } from "./queries";

/** The fields of the form; `tell` holds ids of users with spaces between them. */
export type Values = Record<
  "kind" | "name" | "period" | "amount" | "warn" | "stop" | "grace" | "told" | "tell",
  string
>;

/** What a budget is set to: all of it, so that nothing stays as it was by chance. */
export function useBudgetForm(budget: Budget | undefined, onClose: () => void) {
  const client = useQueryClient();
  const people = usePeople();
  const form = useForm<Values, Budget>({
    draft: `budget.${budget?.id ?? "new"}`,
    initial: valuesOf(budget),
    send: (values) => setBudget(settingOf(values, people)),
    done: () => {
      client.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      toast({ title: "The budget is set" });
      onClose();
    },
  });
  return { ...form, people };
}

/** People who can be told, as far as the reader may know them. */
function usePeople(): readonly User[] | undefined {
  const isAllowed = useCan("user:read:team");
  return useQuery({ ...usersQuery, enabled: isAllowed }).data?.items;
}

/** What the form begins with. */
export function valuesOf(budget: Budget | undefined): Values {
  const tell = budget?.tell ?? [];
  return {
    ...scopeParts(budget?.scope ?? "tenant"),
    period: budget?.period ?? "monthly",
    amount: budget ? amountOf(budget.capMicros) : "",
    warn: String(budget?.warnPercent ?? WARN_PERCENT),
    stop: budget?.hardStop === false ? "off" : "on",
    grace: String(budget?.gracePercent ?? 0),
    told: tell.length > 0 ? "some" : "all",
    tell: tell.join(" "),
  };
}

/** What is sent for what is in the form. */
export function settingOf(
  values: Values,
  people: readonly Pick<User, "id">[] | undefined,
): Setting & { tell: string[] } {
  return {
    scope: scopeOf(values),
    period: values.period as Period,
    capMicros: microsOf(values.amount) ?? 0,
    warnPercent: Number(values.warn),
    hardStop: values.stop === "on",
    // Without a hard stop the field cannot be put right, so what is wrong in it does not count.
    gracePercent: graceOf(values) ?? 0,
    tell: toldOf(values, people),
  };
}

export function scopeOf({ kind, name }: Pick<Values, "kind" | "name">): string {
  return kind === "tenant" ? kind : `${kind}:${name.trim()}`;
}

/** The grace in percent; undefined if what was typed is none. */
export function graceOf({ grace }: Pick<Values, "grace">): number | undefined {
  if (!/^\d{1,3}$/.test(grace.trim())) return undefined;
  const percent = Number(grace);
  return percent <= 100 ? percent : undefined;
}

/** Ids of those who were chosen, whether they are here or not. */
export function chosenOf({ tell }: Pick<Values, "tell">): string[] {
  return tell.split(" ").filter(Boolean);
}

/** Who is told: of those chosen, who is still here; the server refuses a person it does not know. */
export function toldOf(
  values: Pick<Values, "told" | "tell">,
  people: readonly Pick<User, "id">[] | undefined,
): string[] {
  if (values.told !== "some") return [];
  return chosenOf(values).filter((id) => people?.some((person) => person.id === id) ?? true);
}

/** What will be another once a budget is changed, in words. */
export function differences(
  before: Values,
  after: Values,
  nameOf: (id: string) => string,
): Change[] {
  const percent = (value: string) => `${Number(value)}%`;
  const words: Record<string, (values: Values) => string> = {
    Limit: ({ amount }) => money(microsOf(amount) ?? 0),
    "Warns from": ({ warn }) => percent(warn),
    "Hard stop": ({ stop }) => (stop === "on" ? "on" : "off"),
    Grace: (values) => (values.stop === "on" ? percent(values.grace) : ""),
    "Is told": (values) =>
      values.told === "some" ? chosenOf(values).map(nameOf).join(", ") : "everybody",
  };
  return Object.entries(words)
    .map(([name, word]) => ({ name, before: word(before), after: word(after) }))
    .filter((change) => change.before !== change.after);
}

/** Why it cannot be sent yet. */
export function whyNot(
  values: Values,
  people: readonly Pick<User, "id">[] | undefined,
): string | undefined {
  if (microsOf(values.amount) === undefined) return "Say how much may be spent.";
  if (values.kind !== "tenant" && values.name.trim() === "") return "Say whose spending it limits.";
  if (values.stop === "on" && graceOf(values) === undefined)
    return "Write a grace of 0 to 100 percent.";
  const told = toldOf(values, people).length;
  if (values.told === "some" && told === 0) return "Choose who is told, or let everybody know.";
  if (told > TOLD_MOST) return `Choose at most ${TOLD_MOST} people.`;
  return undefined;
}
