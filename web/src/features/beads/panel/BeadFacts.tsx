import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Bead } from "../../../api/types";
import { money } from "../../../ui/format";
import { Money } from "../../../ui/Money";
import { Time } from "../../../ui/Time";
import { budgetFault, microsOf } from "../../intents/wish";
import { useProject } from "../../projects/queries";
import { estimateFault, minutesIn, spanOf } from "../fields";
import { beadQueries } from "../queries";
import styles from "./BeadPanel.module.css";
import { EditableFact } from "./EditableFact";
import own from "./EditableFact.module.css";

const MICROS = 1_000_000;
/** Beads that are offered as a parent; whoever wants another types its id. */
const MOST_OFFERED = 200;

/** What is known about a bead; what a person decides can be changed right there. */
export function BeadFacts({ bead }: { bead: Bead }) {
  const costs = useQuery(beadQueries.costs());
  const update = `godel bead update ${bead.id}`;
  const dollars = bead.budget ? String(bead.budget / MICROS) : "";
  return (
    <section className={styles.section} aria-label="Facts">
      <h3>Facts</h3>
      <dl className={own.facts}>
        <Fact
          name="Created"
          value={
            <>
              <Time at={bead.createdAt} />
              {bead.createdBy && ` by ${bead.createdBy}`}
            </>
          }
        />
        <Fact name="Updated" value={<Time at={bead.updatedAt} />} />
        <EditableFact
          bead={bead}
          name="Estimate"
          text={bead.estimate ? spanOf(bead.estimate) : ""}
          placeholder="90m, 2h or 3d"
          faultOf={estimateFault}
          changeOf={(text) => ({ estimate: minutesIn(text) })}
          cli={`${update} --estimate 2h`}
        />
        <EditableFact
          bead={bead}
          name="Budget"
          text={dollars}
          shown={money(bead.budget ?? 0)}
          placeholder="In dollars: 5 or 2.50"
          faultOf={budgetFault}
          changeOf={(text) => ({ budget: microsOf(text) ?? 0 })}
          cli={`${update} --budget 5`}
        />
        {costs.data && <Fact name="Cost" value={<Money micros={costs.data.get(bead.id) ?? 0} />} />}
        <ParentFact bead={bead} />
        {bead.defer && <Fact name="Not before" value={<Time at={bead.defer} />} />}
        {bead.worktree && <Fact name="Worktree" value={bead.worktree} />}
        {bead.lease && <Fact name="Held until" value={<Time at={bead.lease.until} />} />}
      </dl>
    </section>
  );
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <div className={own.fact}>
      <dt>{name}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </div>
  );
}

/** The bead that this one is a part of. */
function ParentFact({ bead }: { bead: Bead }) {
  const { projectId } = useProject();
  const { data } = useQuery(beadQueries.all(projectId));
  const others = (data?.items ?? []).filter(
    (other) =>
      other.id !== bead.id && other.status !== "done" && other.projectId === bead.projectId,
  );
  const parent = data?.items.find(({ id }) => id === bead.parentBead);
  return (
    <EditableFact
      bead={bead}
      name="Part of"
      text={bead.parentBead ?? ""}
      shown={parent ? `${parent.id} ${parent.title}` : undefined}
      placeholder="The id of another bead"
      known={others.slice(0, MOST_OFFERED).map(({ id, title }) => [id, title] as const)}
      changeOf={(text) => ({ parentBead: text })}
      cli={`godel bead update ${bead.id} --parent ID`}
    />
  );
}
