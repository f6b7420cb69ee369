import { useState } from "react";
import { useAction } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import type { Landing, LandingLine } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { useSession } from "../../roles/session";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { KeyCaps } from "../../ui/KeyCaps";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { LANDING } from "./actions";
import { EntryView } from "./EntryView";
import styles from "./LineView.module.css";
import { PauseDialog } from "./PauseDialog";
import { usePause } from "./queries";
import { groupsOf, isOpen } from "./stages";

interface LineViewProps {
  line: LandingLine;
  /** The project. */
  name: string;
  cursor: string | undefined;
  /** The key for pausing is about the first queue. */
  isFirst: boolean;
}

/** The queue of one project: what is to land, in order, and what is over. */
export function LineView({ line, name, cursor, isFirst }: LineViewProps) {
  const open = line.landings.filter(isOpen);
  const over = line.landings.filter((landing) => !isOpen(landing));
  return (
    <section className={styles.line} aria-label={`Queue of ${name}`} data-queue={name}>
      <LineHead line={line} name={name} count={open.length} isFirst={isFirst} />
      {open.length === 0 ? (
        <p className={styles.none}>Nothing is to land.</p>
      ) : (
        <Train label={`To land in ${name}`} landings={open} cursor={cursor} isOrdered />
      )}
      {over.length > 0 && (
        <>
          <h3 className={styles.sub}>Over</h3>
          <Train label={`Over in ${name}`} landings={over} cursor={cursor} />
        </>
      )}
    </section>
  );
}

function LineHead({
  line,
  name,
  count,
  isFirst,
}: {
  line: LandingLine;
  name: string;
  count: number;
  isFirst: boolean;
}) {
  const [isAsking, setAsking] = useState(false);
  const { actor } = useSession();
  const pause = usePause(actor);
  const { paused, projectId } = line;
  const toggle = () => {
    if (paused) pause.mutate({ projectId, pause: false });
    else setAsking(true);
  };
  const verb = paused ? "Resume" : "Pause";
  const cli = `godel land ${verb.toLowerCase()} --project ${name}`;
  useAction(LANDING.pause, toggle, { when: isFirst, title: `${verb} the queue of ${name}`, cli });
  return (
    <header className={styles.head}>
      <h2 className={styles.name}>{name}</h2>
      <span className={styles.count}>{plural(count, "bead")} in line</span>
      {paused ? (
        <Status tone="warn" icon="pause">
          Paused
        </Status>
      ) : (
        <Status tone="ok" icon="play">
          Going
        </Status>
      )}
      {paused && (
        <span className={styles.why}>
          by {paused.by.replace(/^user:/, "")}, <Time at={paused.at} />
          {paused.reason ? `: ${paused.reason}` : ""}
        </span>
      )}
      <span className={styles.acts}>
        <Guarded size="small" can={LANDING.pause.can} cli={cli} onClick={toggle}>
          <Icon name={paused ? "play" : "pause"} size={14} />
          {verb}
          {isFirst && <KeyCaps keys={keysOf(LANDING.pause)[0] ?? ""} />}
        </Guarded>
      </span>
      {isAsking && (
        <PauseDialog
          name={name}
          onClose={() => setAsking(false)}
          onPause={(reason) => {
            setAsking(false);
            pause.mutate({ projectId, pause: true, reason });
          }}
        />
      )}
    </header>
  );
}

interface TrainProps {
  label: string;
  landings: readonly Landing[];
  cursor: string | undefined;
  isOrdered?: boolean;
}

/** Entries one after the other; what is judged together is framed. */
function Train({ label, landings, cursor, isOrdered = false }: TrainProps) {
  return (
    <ol className={styles.train} aria-label={label}>
      {groupsOf(landings).map((group) => {
        const entries = group.landings.map((landing) => (
          <EntryView
            key={landing.bead}
            landing={landing}
            landings={landings}
            isHere={cursor === `${landing.projectId} ${landing.bead}`}
            isOrdered={isOrdered}
          />
        ));
        const [first] = group.landings;
        if (!first) return null;
        if (group.landings.length === 1) return entries;
        return (
          <li key={`batch ${first.bead}`} className={styles.batch} data-batch>
            <p className={styles.together}>
              <Badge tone="info" icon="merge">
                {isOrdered ? "Judged together" : "Were judged together"}: {group.landings.length}
              </Badge>
              <span>
                {isOrdered
                  ? "If they fail together, halves are tried until it is known who breaks the rest."
                  : ""}
              </span>
            </p>
            <ol>{entries}</ol>
          </li>
        );
      })}
    </ol>
  );
}
