import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import type { NewIntent } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { setParams, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Loaded } from "../../ui/Loaded";
import { ErrorNotice } from "../../ui/Notice";
import { Bone, Late } from "../../ui/Skeleton";
import { useDraft } from "../../ui/useDraft";
import { useProject } from "../projects/queries";
import { ASK } from "./AskButton";
import styles from "./IntentBox.module.css";
import { IntentView } from "./IntentView";
import { intentQueries, useIntentSteps } from "./queries";
import { budgetFault, microsOf, wishCli } from "./wish";

/** Say what you want; see the plan and its price; start it; follow it. */
export function IntentBox() {
  const [intentId, setIntent] = useParam("intent");
  const close = () => setIntent(undefined);
  return (
    <section className={styles.box} aria-label="What do you want?">
      <WishForm onPlanned={setIntent} />
      {intentId && (
        <Boundary key={intentId} what="The plan">
          <Planned id={intentId} onClose={close} />
        </Boundary>
      )}
    </section>
  );
}

function WishForm({ onPlanned }: { onPlanned: (id: string) => void }) {
  const { projectId } = useProject();
  const [text, setText, clear] = useDraft("intent");
  const [budget, setBudget] = useDraft("intent.budget");
  const [isRules, setRules] = useState(false);
  const { plan } = useIntentSteps();
  const input = useRef<HTMLTextAreaElement>(null);
  useAsked(input, setText);
  const fault = budgetFault(budget);
  const wish: NewIntent = {
    text: text.trim(),
    ...(projectId && { projectId }),
    ...(!fault && microsOf(budget) !== undefined && { budgetMicros: microsOf(budget) ?? null }),
    ...(isRules && { rules: true }),
  };
  const denied = useRefusal(ASK.can);
  const refused =
    denied ??
    (wish.text === ""
      ? "Write what you want first."
      : (fault ?? (plan.isPending ? "It is being planned." : undefined)));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (refused !== undefined) return;
    plan.mutate(wish, {
      onSuccess: (intent) => {
        clear();
        onPlanned(intent.id);
      },
    });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <WishText ref={input} text={text} onText={setText} onSend={submit} />
      <div className={styles.foot}>
        <BudgetField value={budget} onChange={setBudget} />
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={isRules}
            onChange={(event) => setRules(event.target.checked)}
          />
          Plan without a model
        </label>
        <span className={styles.grow} />
        <Guarded
          look="solid"
          align="end"
          type="submit"
          can={ASK.can}
          refused={refused}
          cli={wish.text === "" ? undefined : wishCli(wish)}
        >
          {plan.isPending ? "Planning…" : "Plan it"}
        </Guarded>
      </div>
      {plan.error && <PlanRefusal error={plan.error} />}
    </form>
  );
}

interface WishTextProps {
  ref: React.Ref<HTMLTextAreaElement>;
  text: string;
  onText: (text: string) => void;
  onSend: (event: FormEvent) => void;
}

function WishText({ ref, text, onText, onSend }: WishTextProps) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className={styles.label}>
        What do you want?
      </label>
      <textarea
        ref={ref}
        id={id}
        rows={2}
        className={styles.text}
        placeholder="Add a landing page with a waitlist form"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey) onSend(event);
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </>
  );
}

/** What it may cost; used for the wish and again for its start. */
export function BudgetField({
  value,
  onChange,
}: {
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const fault = budgetFault(value);
  return (
    <div className={styles.budget}>
      <label htmlFor={id}>Budget $</label>
      <input
        id={id}
        inputMode="decimal"
        autoComplete="off"
        placeholder="no limit"
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby={fault && `${id}-fault`}
        onChange={(event) => onChange(event.target.value)}
      />
      {fault && (
        <p id={`${id}-fault`} className={styles.fault}>
          {fault}
        </p>
      )}
    </div>
  );
}

function PlanRefusal({ error }: { error: Error }) {
  const isProject = error instanceof ApiError && /project/.test(error.code);
  return (
    <>
      <ErrorNotice error={error} />
      {isProject && <p className={styles.soft}>Choose the project at the top left.</p>}
    </>
  );
}

/** Words from the palette come by the address, and leave it at once. */
function useAsked(
  input: React.RefObject<HTMLTextAreaElement | null>,
  setText: (text: string) => void,
): void {
  const [asked] = useParam("ask");
  useEffect(() => {
    if (asked === undefined) return;
    if (asked !== "1") setText(asked);
    setParams({ ask: undefined });
    input.current?.focus();
  }, [asked, input, setText]);
}

function Planned({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(intentQueries.one(id));
  const bones = (
    <Late>
      <Bone width="60%" height={14} />
    </Late>
  );
  return (
    <Loaded query={query} what="The plan" skeleton={bones}>
      {(intent) => <IntentView intent={intent} onClose={onClose} />}
    </Loaded>
  );
}
