import { type RefObject, useMemo, useRef, useState } from "react";
import { useAction } from "../../actions/actions";
import { keysOf } from "../../actions/keymap";
import type { Landing, LandingLine } from "../../api/types";
import { useActing } from "../../change/useActing";
import { Guarded } from "../../roles/Guarded";
import { useSession } from "../../roles/session";
import { useCalm } from "../../ui/calm";
import { plural, shellWord } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { KeyCaps } from "../../ui/KeyCaps";
import { NewRows } from "../../ui/NewRows";
import { Badge, Status } from "../../ui/Status";
import { Time } from "../../ui/Time";
import { usePresence } from "../../ui/usePresence";
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
  const box = useRef<HTMLElement>(null);
  const { open, over, isHeld, waiting, show } = useCalmLine(line.landings, box);
  const count = line.landings.filter(isOpen).length;
  return (
    <section
      ref={box}
      className={styles.line}
      aria-label={`Queue of ${name}`}
      data-queue={name}
      data-held={isHeld || undefined}
    >
      <LineHead line={line} name={name} count={count} isFirst={isFirst} />
      <div className={styles.news}>
        <NewRows waiting={waiting} noun="landing" onShow={show} />
      </div>
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

/** An entry, and whether it was to land or over when the reader saw it. */
interface Seen {
  landing: Landing;
  wasOpen: boolean;
}

const keyOf = ({ landing, wasOpen }: Seen) => `${landing.bead} ${wasOpen}`;

/** Entries with their newest state; while somebody reads, each stays where it was. */
function useCalmLine(landings: readonly Landing[], box: RefObject<HTMLElement | null>) {
  const isHere = usePresence(box);
  const isActing = useActing();
  const rows = useMemo(
    () => landings.map((landing) => ({ landing, wasOpen: isOpen(landing) })),
    [landings],
  );
  const calm = useCalm<Seen>(rows, keyOf, isHere && !isActing);
  const newest = new Map(landings.map((landing) => [landing.bead, landing]));
  const part = (wasOpen: boolean) =>
    calm.rows
      .filter((row) => row.wasOpen === wasOpen)
      .map(({ landing }) => newest.get(landing.bead) ?? landing);
  const isHeld = calm.rows.map(keyOf).join() !== rows.map(keyOf).join();
  return { open: part(true), over: part(false), isHeld, waiting: calm.waiting, show: calm.show };
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
  const cli = `godel land ${verb.toLowerCase()} --project ${shellWord(name)}`;
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
