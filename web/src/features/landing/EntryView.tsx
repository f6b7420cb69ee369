import type { GateVerdict, Landing } from "../../api/types";
import { Link } from "../../router/Link";
import { classes } from "../../ui/classes";
import { duration, latency } from "../../ui/format";
import { Menu } from "../../ui/Menu";
import { asSentence } from "../../ui/Sentence";
import { ShortId } from "../../ui/ShortId";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import styles from "./EntryView.module.css";
import { isOpen, lookOf, troubleOf } from "./stages";
import { useLandingActs } from "./useLandingActs";

interface EntryViewProps {
  landing: Landing;
  /** All of its queue, to know its neighbours. */
  landings: readonly Landing[];
  isHere: boolean;
  isOrdered: boolean;
}

/** One bead on its way: how it stands, what the gates say, and what keeps it. */
export function EntryView({ landing, landings, isHere, isOrdered }: EntryViewProps) {
  const { menuOf } = useLandingActs();
  const { bead, title, stage } = landing;
  const look = lookOf(stage);
  return (
    <li
      id={`landing-${bead}`}
      className={classes(styles.entry, isHere && styles.here)}
      data-landing={bead}
      data-stage={stage}
      data-cursor={isHere || undefined}
    >
      {isOrdered && <span className={styles.place}>{landing.position ?? "–"}</span>}
      <div className={styles.body}>
        <div className={styles.top}>
          <Link to={`/review/${encodeURIComponent(bead)}`} className={styles.title}>
            {title}
          </Link>
          <Status tone={look.tone} icon={look.icon}>
            {look.title}
          </Status>
          {stage === "failed" && landing.trouble === "gate" && (
            <Badge tone="bad" icon="alert">
              Breaks a gate
            </Badge>
          )}
        </div>
        <p className={styles.facts}>
          <ShortId id={bead} />
          {landing.target && <span>into {landing.target}</span>}
          {landing.commit && (
            <span>
              as <ShortId id={landing.commit} />
            </span>
          )}
          <When landing={landing} />
          <span>asked for by {landing.asked === "person" ? "a person" : `a ${landing.asked}`}</span>
          {landing.convoy && <span>of convoy {landing.convoy}</span>}
        </p>
        <Gates gates={landing.gates} />
        <Trouble landing={landing} />
      </div>
      <Menu
        label={`Do something with ${bead}`}
        size="small"
        items={() => menuOf(landing, landings)}
      />
    </li>
  );
}

function When({ landing }: { landing: Landing }) {
  const { addedAt, beganAt, endedAt, etaSeconds } = landing;
  if (!isOpen(landing)) return <Time at={endedAt ?? addedAt} />;
  return (
    <>
      <span>
        added <Time at={addedAt} />
      </span>
      {beganAt && (
        <span>
          first tried <Time at={beganAt} />
        </span>
      )}
      {etaSeconds != null && <span>lands in about {duration(Math.max(1, etaSeconds))}</span>}
    </>
  );
}

/** What each gate said about the merged files. */
function Gates({ gates }: { gates: readonly GateVerdict[] }) {
  if (gates.length === 0) return null;
  return (
    <ul className={styles.gates} aria-label="Checks">
      {gates.map(({ gate, passed, tookMs, cached }) => (
        <li key={gate}>
          <Badge tone={passed ? "ok" : "bad"} icon={passed ? "check" : "cross"}>
            {gate} {passed ? "passed" : "failed"}
            <span className={styles.took}>{cached ? "known before" : latency(tookMs)}</span>
          </Badge>
        </li>
      ))}
    </ul>
  );
}

/** What keeps it from landing: why, in which files, and who repairs it. */
function Trouble({ landing }: { landing: Landing }) {
  const { why, files, mender } = landing;
  const known = troubleOf(landing);
  const isSaid = why != null && known && why.toLowerCase().startsWith(known.toLowerCase());
  const trouble = isSaid ? undefined : known;
  if (why == null && trouble === undefined && files.length === 0 && mender == null) return null;
  return (
    <div className={styles.trouble}>
      {trouble && <p className={styles.what}>{trouble}.</p>}
      {why && <p className={styles.why}>{wordsOf(why)}</p>}
      {files.length > 0 && (
        <ul aria-label="Files in conflict">
          {files.map((path) => (
            <li key={path}>
              <code>{path}</code>
            </li>
          ))}
        </ul>
      )}
      {mender && (
        <p>
          <Link to={`/agents/${encodeURIComponent(mender)}`}>{mender}</Link>{" "}
          {landing.stage === "mending" ? "repairs" : "was asked to repair"} it.
        </p>
      )}
    </div>
  );
}

/** One line is a sentence; what a gate printed is left as it is. */
function wordsOf(why: string): string {
  return why.includes("\n") ? why : asSentence(why.replace(/^user:/, ""));
}
