import type { Intent } from "../../api/types";
import { plural } from "../../ui/format";
import { Sentence } from "../../ui/Sentence";
import { Badge, type Tone } from "../../ui/Status";
import styles from "./Plan.module.css";
import { costWords, sureWord, timeWords } from "./wish";

const SURE_TONES: Record<string, Tone> = { guess: "warn", rough: "info", measured: "ok" };

/** The beads of a plan in the order in which they are worked on, and by whom. */
export function Waves({ intent }: { intent: Intent }) {
  const { plan, team } = intent;
  if (!plan) return null;
  const beadOf = new Map(plan.beads.map((bead) => [bead.key, bead]));
  return (
    <>
      <p className={styles.sum}>
        {plural(plan.beads.length, "bead")} in {plural(plan.waves.length, "wave")}
        {team && (
          <>
            , {plural(team.size, "agent")} at a time
            {team.members.map(({ role, count, model }) => (
              <Badge key={`${role} ${model}`} icon="agents">
                {count} {role}
                {model && ` · ${model}`}
              </Badge>
            ))}
          </>
        )}
        <span className={styles.by}>
          {plan.by === "model" ? `planned by ${plan.model ?? "a model"}` : "planned by rules"}
        </span>
      </p>
      <ol className={styles.waves} aria-label="Waves">
        {plan.waves.map((wave, index) => (
          <li key={wave.join(" ")} className={styles.wave}>
            <span className={styles.number}>{index + 1}</span>
            <ul className={styles.beads}>
              {wave.map((key) => {
                const bead = beadOf.get(key);
                if (!bead) return null;
                return (
                  <li key={key} className={styles.bead} title={bead.description}>
                    <span className={styles.title}>{bead.title}</span>
                    <span className={styles.facts}>
                      {bead.type} · {bead.size} · {bead.role}
                    </span>
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ol>
    </>
  );
}

/** What it will cost and take, and how sure that is. */
export function Estimate({ estimate }: { estimate: NonNullable<Intent["estimate"]> }) {
  return (
    <dl className={styles.estimate} aria-label="Estimate">
      <div>
        <dt>Cost</dt>
        <dd className="tabular">{costWords(estimate)}</dd>
      </div>
      <div>
        <dt>Time</dt>
        <dd className="tabular">{timeWords(estimate)}</dd>
      </div>
      <div>
        <dt>How sure</dt>
        <dd>
          <Badge tone={SURE_TONES[estimate.sureness] ?? "plain"}>
            {sureWord(estimate.sureness)}
          </Badge>{" "}
          <span className={styles.soft}>
            <Sentence text={estimate.words.replace(/^\w+: /, "")} />
          </span>
        </dd>
      </div>
    </dl>
  );
}
