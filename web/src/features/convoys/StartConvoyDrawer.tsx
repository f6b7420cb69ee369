import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { serverNow } from "../../api/clock";
import type { Convoy, ConvoyWaves, RuntimeInfo } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Button } from "../../ui/Button";
import { Cli } from "../../ui/Cli";
import { Drawer } from "../../ui/Drawer";
import { TextField } from "../../ui/Field";
import { useFields } from "../../ui/form/form";
import { money, plural, shellWord } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Select } from "../../ui/PageHead";
import { ShortId } from "../../ui/ShortId";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { agentQueries, useKnownModels } from "../agents/queries";
import { Choice } from "../agents/spawn/fields";
import {
  capabilityWords,
  HARNESSES,
  runtimeOptions,
  USUAL_RUNTIME,
  whyNoRuntime,
} from "../agents/spawn/form";
import type { BeadGraph } from "../beads/graph";
import { beadQueries } from "../beads/queries";
import { UsedUpNotice } from "../budgets/UsedUpNote";
import { settingsQueries } from "../settings/queries";
import styles from "./Board.module.css";
import { type Known, leftIn, planWords, USUAL_AGENTS } from "./convoyEta";
import { meanCostOf } from "./costs";
import type { Past } from "./past";
import { convoyQueries, useStartConvoy } from "./queries";

const WALLS = ["read-only", "workspace", "workspace+net"];
const AGENTS = String(USUAL_AGENTS);

interface StartConvoyDrawerProps {
  convoy: Convoy;
  graph: BeadGraph;
  past: Past | null | undefined;
  /** Where its agents worked last; a stop and a start must not weaken their walls. */
  runtime: string;
  onClose: () => void;
}

/** The plan before the start: what is done at the same time, by whom, and what it may cost. */
export function StartConvoyDrawer(props: StartConvoyDrawerProps) {
  const { convoy, graph, past, onClose } = props;
  const waves = useQuery(convoyQueries.waves(convoy));
  const start = useStartConvoy(convoy);
  const { values, set, discard } = useFields(`convoy.${convoy.id}.start`, {
    ...AS_USUAL,
    runtime: props.runtime,
  });
  const { agents, budget } = values;
  const number = /^\d{1,3}$/.test(agents.trim()) ? Number(agents) : 0;
  const dollars = budget.trim() === "" ? 0 : Number(budget);
  const runtimes = useQuery(settingsQueries.runtimes).data?.items;
  const refused = whyNot(number, dollars) ?? whyNoRuntime(values.runtime, runtimes);
  const words = [
    `godel convoy start ${convoy.id} --agents ${shellWord(agents.trim() || AGENTS)}`,
    dollars > 0 && `--budget ${budget.trim()}`,
    ...wordsOf(values),
  ];
  const begin = () => {
    start.mutate({
      agents: number,
      ...(dollars > 0 && { budgetMicros: Math.round(dollars * 1_000_000) }),
      ...ordersOf(values),
    });
    discard();
    onClose();
  };
  return (
    <Drawer
      title={`Start ${convoy.name}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            side="above"
            can="agent:create:own"
            refused={refused}
            onClick={begin}
          >
            Start
          </Guarded>
        </>
      }
    >
      <div className={styles.form}>
        <Loaded query={waves} what="The waves" skeleton={<SkeletonRows rows={4} />}>
          {(plan) => <Waves plan={plan} agents={number} />}
        </Loaded>
        {past && <TimeNeeded convoy={convoy} graph={graph} past={past} agents={number} />}
        <Estimate convoy={convoy} graph={graph} />
        <TextField
          label="Agents at once"
          inputMode="numeric"
          value={agents}
          onChange={(event) => set("agents", event.target.value)}
        />
        <TextField
          label="Budget of all together, in dollars"
          inputMode="decimal"
          placeholder="no limit of its own"
          value={budget}
          onChange={(event) => set("budget", event.target.value)}
          note="When it is spent, agents stop, and the convoy says so."
        />
        {/* What is typed above takes the place of what the convoy had. */}
        <UsedUpNotice projectId={convoy.projectId} convoy={dollars > 0 ? undefined : convoy.id} />
        <HowChoice how={values} set={set} runtimes={runtimes} />
        <Cli command={words.filter(Boolean).join(" ")} />
      </div>
    </Drawer>
  );
}

/** How many, for how much; with which agent, where, behind which walls, and how it lands; nothing means as the project says. */
const AS_USUAL = {
  agents: AGENTS,
  budget: "",
  harness: "",
  model: "",
  role: "",
  runtime: "",
  walls: "",
  together: "",
};
type Orders = Record<keyof typeof AS_USUAL, string>;
type How = Omit<Orders, "agents" | "budget">;

function ordersOf({ harness, model, role, runtime, walls, together }: How) {
  return {
    ...(harness && { harness }),
    ...(model.trim() && { model: model.trim() }),
    ...(role && { role }),
    ...(runtime && { runtime }),
    ...(walls && { sandbox: walls }),
    ...(together && { together: together === "yes" }),
  };
}

function wordsOf({ harness, model, role, runtime, walls, together }: How) {
  return [
    harness && `--harness ${harness}`,
    model.trim() && `--model ${shellWord(model.trim())}`,
    role && `--role ${role}`,
    runtime && `--runtime ${runtime}`,
    walls && `--sandbox ${walls}`,
    together === "yes" && "--together",
  ];
}

interface HowChoiceProps {
  how: How;
  set: (name: keyof How, value: string) => void;
  runtimes: readonly RuntimeInfo[] | undefined;
}

function HowChoice({ how, set, runtimes }: HowChoiceProps) {
  const roles = useQuery(agentQueries.roles).data ?? [];
  return (
    <div className={styles.pair}>
      <ModelLine model={how.model} onChange={(model) => set("model", model)} />
      <div className={styles.wide}>
        <Choice
          label="Where they work"
          value={how.runtime}
          onChange={(runtime) => set("runtime", runtime)}
          options={[
            ["", `${USUAL_RUNTIME}, as usual`],
            ...runtimeOptions(runtimes)
              .filter(({ value }) => value !== USUAL_RUNTIME)
              .map(({ value, title, isRefused }) => [value, title, isRefused] as const),
          ]}
          note={capabilityWords(how.runtime, runtimes)}
          problem={whyNoRuntime(how.runtime, runtimes)}
        />
      </div>
      <Select
        label="In which role"
        value={how.role}
        onChange={(role) => set("role", role)}
        options={[["", "As workers"], ...roles.map(({ name }) => [name, name] as const)]}
      />
      <Select
        label="Which agent"
        value={how.harness}
        onChange={(harness) => set("harness", harness)}
        options={[["", "The project’s agent"], ...HARNESSES.map((one) => [one, one] as const)]}
      />
      <Select
        label="Behind which walls"
        value={how.walls}
        onChange={(walls) => set("walls", walls)}
        options={[["", "The project’s walls"], ...WALLS.map((one) => [one, one] as const)]}
      />
      <Select
        label="How it lands"
        value={how.together}
        onChange={(together) => set("together", together)}
        options={[
          ["", "Lands as the project says"],
          ["yes", "Lands as one"],
          ["no", "Lands bead by bead"],
        ]}
      />
    </div>
  );
}

/** The model for all of them; those that agents had are offered. */
function ModelLine({ model, onChange }: { model: string; onChange: (model: string) => void }) {
  const id = useId();
  const models = useKnownModels();
  return (
    <div className={styles.wide}>
      <TextField
        label="Model"
        placeholder="as the project says"
        list={id}
        value={model}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={id}>
        {models.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}

function whyNot(agents: number, dollars: number): string | undefined {
  if (agents < 1) return "Say how many agents may work at once.";
  if (Number.isNaN(dollars) || dollars < 0) return "The budget is no amount of dollars.";
  return undefined;
}

/** What can be done at the same time, wave by wave; what is done is left out. */
function Waves({ plan, agents }: { plan: ConvoyWaves; agents: number }) {
  const waves = plan.waves
    .map((wave) => wave.filter(({ status }) => status !== "done"))
    .filter((wave) => wave.length > 0);
  return (
    <section aria-label="Waves" className={styles.waves}>
      <h3>{plural(waves.length, "wave")}</h3>
      <ol>
        {waves.map((wave, at) => (
          <li key={wave.map(({ id }) => id).join()}>
            <p className={styles.soft}>
              Wave {at + 1}: {plural(wave.length, "bead")},{" "}
              {plural(Math.min(agents, wave.length), "agent")} at once
            </p>
            <ul>
              {wave.map((row) => (
                <li key={row.id}>
                  <ShortId id={row.id} /> {row.title}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {plan.tangled.length > 0 && (
        <Badge tone="bad" icon="alert">
          {plural(plan.tangled.length, "bead")} wait for each other and never start
        </Badge>
      )}
      {plan.missing.length > 0 && (
        <Badge tone="warn" icon="alert">
          {plural(plan.missing.length, "bead")} no longer exist
        </Badge>
      )}
    </section>
  );
}

/** How long it takes with so many agents, by what finished beads took. */
function TimeNeeded({ agents, ...known }: Omit<Known, "run" | "now"> & { agents: number }) {
  const [now] = useState(serverNow);
  return (
    <section aria-label="Time" className={styles.waves}>
      <h3>Time</h3>
      <p>{planWords({ ...known, now }, agents)}</p>
    </section>
  );
}

/** What is left may cost: by the budgets of its beads, and by what earlier beads did cost. */
function Estimate({ convoy, graph }: { convoy: Convoy; graph: BeadGraph }) {
  const { data: costs } = useQuery(beadQueries.costs());
  const left = leftIn(convoy, graph);
  const budgets = left.reduce((sum, { budget }) => sum + (budget ?? 0), 0);
  const mean = meanCostOf(graph.byId, costs);
  return (
    <section aria-label="Cost" className={styles.waves}>
      <h3>Cost</h3>
      <p>
        {mean
          ? `About ${money(mean.micros * left.length)}: ${plural(left.length, "bead")} left, and ${plural(mean.beads, "finished bead")} cost ${money(mean.micros)} on average.`
          : "No finished bead has a cost yet, so there is nothing to estimate from."}
      </p>
      {budgets > 0 && <p>Its beads may cost {money(budgets)} together.</p>}
    </section>
  );
}
