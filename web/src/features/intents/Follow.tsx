import { useQuery } from "@tanstack/react-query";
import type { ConvoyRun } from "../../api/types";
import { PAGES } from "../../pages";
import { Link } from "../../router/Link";
import { Cli } from "../../ui/Cli";
import { money, plural } from "../../ui/format";
import type { IconName } from "../../ui/Icon";
import { Loaded } from "../../ui/Loaded";
import { Meter, ProgressRing } from "../../ui/Meter";
import { Bone, Late } from "../../ui/Skeleton";
import { Status, type Tone } from "../../ui/Status";
import { beadQueries } from "../beads/queries";
import styles from "./Plan.module.css";
import { type Followed, intentQueries } from "./queries";

const LOOKS: Record<string, readonly [string, Tone, IconName]> = {
  open: ["Open", "plain", "circle"],
  "in-progress": ["In progress", "info", "play"],
  in_progress: ["In progress", "info", "play"],
  review: ["Review", "warn", "review"],
  done: ["Done", "ok", "check"],
  "wont-do": ["Won't do", "plain", "clear"],
};

/** A convoy on its way: how far it is, wave by wave. */
export function Follow({ convoy, projectId }: { convoy: string; projectId: string }) {
  const query = useQuery(intentQueries.followed(convoy, projectId));
  const bones = (
    <Late>
      <Bone width="40%" height={14} />
    </Late>
  );
  return (
    <Loaded query={query} what="The convoy" skeleton={bones}>
      {(followed) => <Progress {...followed} />}
    </Loaded>
  );
}

function Progress({ convoy, run, waves }: Followed) {
  const beads = waves.waves.flat();
  const done = beads.filter((bead) => bead.status === "done").length;
  return (
    <>
      <div className={styles.sum}>
        <ProgressRing percent={beads.length === 0 ? 0 : (100 * done) / beads.length} />
        <ConvoyName id={convoy.id} name={convoy.name} />
        <span>
          {done} of {plural(beads.length, "bead")} done, {runWords(run)}
        </span>
        <Spent run={run} beads={beads.map(({ id }) => id)} />
      </div>
      {run.note && <p className={styles.soft}>{run.note}</p>}
      <ol className={styles.waves} aria-label="Progress">
        {waves.waves.map((wave, index) => (
          <li key={wave.map(({ id }) => id).join(" ")} className={styles.wave}>
            <span className={styles.number}>{index + 1}</span>
            <ul className={styles.beads}>
              {wave.map((bead) => {
                const [title, tone, icon] = LOOKS[bead.status] ?? [bead.status, "plain", "circle"];
                return (
                  <li key={bead.id} className={styles.bead}>
                    <span className={styles.title}>{bead.title}</span>
                    <span className={styles.facts}>
                      <Status tone={tone} icon={icon}>
                        {title}
                      </Status>
                      {bead.agent && (
                        <Link to={`/agents/${encodeURIComponent(bead.agent)}`}>{bead.agent}</Link>
                      )}
                    </span>
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ol>
      <Cli command={`godel watch ${convoy.id}`} />
    </>
  );
}

/** What its beads cost so far: it goes on as agents spend, so that nobody has to look elsewhere. */
function Spent({ run, beads }: { run: ConvoyRun; beads: readonly string[] }) {
  const { data: costs, isError } = useQuery(beadQueries.costs());
  // Its place is kept until it is known; who may not know it has none.
  if (!costs) return isError ? null : <span className={styles.spend} />;
  const spent = beads.reduce((sum, id) => sum + (costs.get(id) ?? 0), 0);
  const max = run.budgetMicros ?? 0;
  const text = max > 0 ? `${money(spent)} of ${money(max)} spent` : `${money(spent)} spent`;
  return (
    <div className={styles.spend} data-spent={spent}>
      <span className="tabular">{text}</span>
      {max > 0 && <Meter label="Spent of the budget" value={spent} max={max} text={text} />}
    </div>
  );
}

function ConvoyName({ id, name }: { id: string; name: string }) {
  if (!PAGES.some((page) => page.id === "convoys")) return <strong>{name}</strong>;
  return <Link to={`/convoys/${encodeURIComponent(id)}`}>{name}</Link>;
}

function runWords({ state, running }: ConvoyRun): string {
  if (state === "running") return `${plural(running, "agent")} at work`;
  return state === "done" ? "all is over" : "stopped";
}
