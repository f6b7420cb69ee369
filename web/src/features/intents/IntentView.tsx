import { type FormEvent, useId, useState } from "react";
import type { Intent } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useForeignRefusal, useSession } from "../../roles/session";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { ErrorNotice } from "../../ui/Notice";
import { Sentence } from "../../ui/Sentence";
import { Badge } from "../../ui/Status";
import { useDraft } from "../../ui/useDraft";
import { ASK } from "./AskButton";
import { Follow } from "./Follow";
import { BudgetField } from "./IntentBox";
import styles from "./IntentView.module.css";
import { Estimate, Waves } from "./Plan";
import { useIntentSteps } from "./queries";
import { answerCli, budgetFault, microsOf, suggestedBudget } from "./wish";

const STATES: Record<string, string> = {
  asking: "One question",
  planned: "A plan",
  starting: "Starting",
  started: "Started",
  answered: "Answer",
  cancelled: "Put aside",
};

/** What became of a wish so far. */
export function IntentView({ intent, onClose }: { intent: Intent; onClose: () => void }) {
  const { state, question, plan, convoy } = intent;
  return (
    <article className={styles.card} aria-label={STATES[state] ?? state} data-intent={intent.id}>
      <header className={styles.head}>
        <Badge tone={state === "asking" ? "warn" : state === "started" ? "ok" : "info"}>
          {STATES[state] ?? state}
        </Badge>
        <span className={styles.wish} title={intent.text}>
          {intent.text}
        </span>
        <Button look="quiet" size="small" isIcon aria-label="Close the plan" onClick={onClose}>
          <Icon name="cross" size={15} />
        </Button>
      </header>
      {state === "asking" && question && <Question intent={intent} />}
      {plan && state !== "started" && <Waves intent={intent} />}
      {intent.estimate && state === "planned" && <Estimate estimate={intent.estimate} />}
      {intent.words.length > 0 && state !== "started" && (
        <ul className={styles.words}>
          {intent.words.map((word) => (
            <li key={word}>
              <Sentence text={word} />
            </li>
          ))}
        </ul>
      )}
      {state === "planned" && <Start intent={intent} onClose={onClose} />}
      {convoy && <Follow convoy={convoy} projectId={intent.projectId} />}
    </article>
  );
}

/** Why a wish cannot be answered or started: some may do that only to their own. */
function useForeignIntent({ userId }: Intent): string | undefined {
  const session = useSession();
  const refusedOf = useForeignRefusal("agent:execute:team");
  return refusedOf({ name: "This wish", isOwn: userId === session.userId });
}

function Question({ intent }: { intent: Intent }) {
  const { answer } = useIntentSteps();
  const [text, setText, clear] = useDraft(`intent.${intent.id}`);
  const id = useId();
  const foreign = useForeignIntent(intent);
  const { question } = intent;
  if (!question) return null;
  const send = (value: string) =>
    answer.mutate({ id: intent.id, answer: value }, { onSuccess: clear });
  const cli = (value: string) => answerCli(intent.id, value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") send(text.trim());
  };
  return (
    <>
      <p className={styles.ask}>{question.ask}</p>
      <div className={styles.choices}>
        {question.choices.map((choice) => (
          <Guarded
            key={choice.value}
            size="small"
            can={ASK.can}
            refused={foreign}
            cli={cli(choice.value)}
            onClick={() => send(choice.value)}
          >
            {choice.label}
          </Guarded>
        ))}
      </div>
      {question.free && (
        <form className={styles.free} onSubmit={submit}>
          <label htmlFor={id} className="visually-hidden">
            Your answer
          </label>
          <input
            id={id}
            placeholder="In your own words"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Guarded
            type="submit"
            size="small"
            can={ASK.can}
            refused={foreign ?? (text.trim() === "" ? "Write an answer first." : undefined)}
            cli={cli(text.trim())}
          >
            Answer
          </Guarded>
        </form>
      )}
      {answer.error && <ErrorNotice error={answer.error} />}
    </>
  );
}

function Start({ intent, onClose }: { intent: Intent; onClose: () => void }) {
  const { start, cancel } = useIntentSteps();
  const foreign = useForeignIntent(intent);
  const asked = intent.budgetMicros ? String(intent.budgetMicros / 1_000_000) : undefined;
  const [budget, setBudget] = useState(
    asked ?? (intent.estimate ? suggestedBudget(intent.estimate) : ""),
  );
  const fault = budgetFault(budget);
  const micros = fault ? undefined : microsOf(budget);
  const amount = micros === undefined ? "" : ` --budget ${micros / 1_000_000}`;
  return (
    <>
      <div className={styles.start}>
        <BudgetField value={budget} onChange={setBudget} />
        <span className={styles.grow} />
        <Guarded
          look="quiet"
          align="end"
          can={ASK.can}
          refused={foreign}
          cli={`godel do --cancel ${intent.id}`}
          onClick={() => cancel.mutate(intent.id, { onSuccess: onClose })}
        >
          Put aside
        </Guarded>
        <Guarded
          look="solid"
          align="end"
          can={ASK.can}
          refused={foreign ?? fault ?? (start.isPending ? "It is being started." : undefined)}
          cli={`godel do --start ${intent.id}${amount}`}
          onClick={() => start.mutate({ id: intent.id, ...(micros && { budgetMicros: micros }) })}
        >
          <Icon name="play" size={14} />
          {start.isPending ? "Starting…" : "Start"}
        </Guarded>
      </div>
      {(start.error ?? cancel.error) && (
        <ErrorNotice error={(start.error ?? cancel.error) as Error} />
      )}
    </>
  );
}
