import { useQueryClient } from "@tanstack/react-query";
import type { Budget } from "../../api/types";
import { toast } from "../../change/toasts";
import { Guarded } from "../../roles/Guarded";
import { setParams } from "../../router/router";
import { Button } from "../../ui/Button";
import { TextField } from "../../ui/Field";
import { Choice } from "../../ui/form/Choice";
import { placeError, useForm } from "../../ui/form/form";
import { money } from "../../ui/format";
import { ErrorNotice } from "../../ui/Notice";
import {
  microsOf,
  PERIOD_TITLES,
  type Period,
  setCli,
  stopsAt,
  WARN_PERCENT,
} from "../budgets/budgets";
import { budgetsQuery, setBudget } from "../budgets/queries";
import type { Limit } from "./steps";
import styles from "./WelcomePage.module.css";

/** What a first budget is: for everything, and it stops at its limit. */
const USUAL = {
  scope: "tenant",
  warnPercent: WARN_PERCENT,
  hardStop: true,
  gracePercent: 0,
  tell: [],
} as const;

/** What is offered: enough for a first day, and nobody pays for more without having said so. */
const OFFERED: Record<"amount" | "period", string> = { amount: "5", period: "daily" };
const IN_WELCOME: readonly Period[] = ["daily", "monthly"];

interface BudgetStepProps {
  /** What holds already. */
  limit: Limit | undefined;
  onDone: () => void;
}

/** One limit for everything; finer ones have a page. */
export function BudgetStep({ limit, onDone }: BudgetStepProps) {
  if (!limit) return <BudgetForm onDone={onDone} />;
  const refusedFrom = stopsAt(limit);
  return (
    <>
      <p>
        {refusedFrom === undefined ? "You are told at" : "Spending stops at"}{" "}
        <strong>{money(refusedFrom ?? limit.capMicros)}</strong> ({limit.period}).
      </p>
      <div className={styles.acts}>
        <Button onClick={onDone}>Go on</Button>
      </div>
    </>
  );
}

function BudgetForm({ onDone }: Pick<BudgetStepProps, "onDone">) {
  const client = useQueryClient();
  const form = useForm<typeof OFFERED, Budget>({
    initial: OFFERED,
    draft: "welcome.budget",
    send: ({ amount, period }) =>
      setBudget({
        scope: USUAL.scope,
        period,
        capMicros: microsOf(amount) ?? 0,
        warnPercent: WARN_PERCENT,
      }),
    done: async () => {
      toast({ title: "The budget is set" });
      await client.invalidateQueries({ queryKey: budgetsQuery.queryKey });
      setParams({ step: undefined });
    },
  });
  const micros = microsOf(form.values.amount);
  const period = form.values.period as Period;
  const { fields, rest } = placeError(form.error, { amount: /cap|amount|micro/i });
  const isBad = form.values.amount !== "" && micros === undefined;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (micros !== undefined) form.submit();
      }}
    >
      <TextField
        label="Hard stop, in dollars"
        value={form.values.amount}
        inputMode="decimal"
        placeholder={OFFERED.amount}
        error={isBad ? "Write dollars, such as 50 or 2.50." : fields.amount}
        note={`Requests that would cost more are refused. You are told from ${WARN_PERCENT} % on.`}
        onChange={(event) => form.set("amount", event.target.value)}
      />
      <Choice
        label="Begins anew"
        value={period}
        options={IN_WELCOME.map((one) => [one, PERIOD_TITLES[one]] as const)}
        onChange={(next) => form.set("period", next)}
        note="At midnight in UTC."
      />
      {rest && <ErrorNotice error={rest} />}
      <div className={styles.acts}>
        <Guarded
          look="solid"
          type="submit"
          can="budget:update:team"
          refused={micros === undefined ? "Say how much may be spent." : undefined}
          cli={micros ? setCli({ ...USUAL, period, capMicros: micros }) : undefined}
        >
          {form.isSending ? "Setting" : "Set the budget"}
        </Guarded>
        <Button look="quiet" onClick={onDone}>
          Skip this step
        </Button>
      </div>
    </form>
  );
}
