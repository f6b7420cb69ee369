import type { Agent } from "../../../api/types";
import { count } from "../../../ui/format";
import { Meter } from "../../../ui/Meter";
import styles from "./ContextGauge.module.css";
import { fillOf, type Held, shortCount } from "./usage";

interface ContextGaugeProps {
  agent: Pick<Agent, "model" | "contextTokens">;
  /** What its last request had. */
  context: Held;
  /** Below a head that says what it is, the word is left out. */
  isShort?: boolean;
}

/** How full the model is; without its size only how much it was given, and the reason in the tooltip. */
export function ContextGauge({ agent, context, isShort = false }: ContextGaugeProps) {
  const word = isShort ? "" : "Context ";
  const { tokens } = context;
  const full = fillOf(agent, context);
  const last = `Its last request had ${count(tokens)} tokens of context.`;
  if (!full) {
    return (
      <span className={styles.gauge} data-context={tokens} title={`${last} ${unknown(agent)}`}>
        {word}
        {shortCount(tokens)} tokens
      </span>
    );
  }
  const text = `${full.text} of ${shortCount(full.most)} tokens${full.warning ? `, ${full.warning}` : ""}`;
  return (
    <span
      className={styles.gauge}
      data-context={tokens}
      data-percent={full.percent}
      title={`${last} ${agent.model || "Its model"} takes ${count(full.most)}.`}
    >
      {word}
      {full.text}
      <Meter label="Context" value={tokens} max={full.most} text={text} />
      {full.warning && <strong className={styles[full.tone]}>{full.warning}</strong>}
    </span>
  );
}

/** Why there is no gauge. */
export function unknown({ model }: Pick<Agent, "model">): string {
  if (model === "") return "It names no model, so how much fits is not known.";
  return `How much ${model} takes is not known: the list of models does not say. Name its context in your own list (models in proxy.toml).`;
}
