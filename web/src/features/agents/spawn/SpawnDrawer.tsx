import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { post } from "../../../api/client";
import { Guarded } from "../../../roles/Guarded";
import { useRefusal } from "../../../roles/session";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Drawer } from "../../../ui/Drawer";
import { useFields } from "../../../ui/form/form";
import { money, plural } from "../../../ui/format";
import { ErrorNotice } from "../../../ui/Notice";
import { asSentence } from "../../../ui/Sentence";
import { UsedUpNote } from "../../budgets/UsedUpNote";
import { useProject } from "../../projects/queries";
import { settingsQueries } from "../../settings/queries";
import { agentQueries, useKnownModels } from "../queries";
import { Choice, Line, Words } from "./fields";
import {
  capabilityWords,
  costSoFar,
  EMPTY_FORM,
  faultsOf,
  fieldOf,
  HARNESSES,
  isAsked,
  requestOf,
  runtimeOptions,
  SANDBOXES,
  type SpawnField,
  type SpawnForm,
  spawnCli,
  warningOf,
  whyNoRuntime,
} from "./form";
import { KEPT, useKept } from "./kept";
import styles from "./SpawnDrawer.module.css";
import { useTellStarted } from "./started";
import { readyBeads, useHomes, useUsedUp } from "./useUsedUp";

const CAN_SPAWN = "agent:create:own";

/** Starts an agent; whoever has done it before needs a task and one click. */
export function SpawnDrawer({ bead, onClose }: { bead?: string | undefined; onClose: () => void }) {
  const { form, set, remember } = useSpawnForm(bead);
  const spawn = useSpawn(() => {
    remember();
    onClose();
  });
  const [isTried, setTried] = useState(false);
  const denied = useRefusal(CAN_SPAWN);
  const faults = faultsOf(form);
  const asksProject = useAsksProject();
  const named = spawn.error ? fieldOf(spawn.error) : undefined;
  // What is refused about a field that is not there is about all of it.
  const isThere = named !== undefined && isAsked(named, form, asksProject);
  const refusedField = isThere ? named : undefined;
  const id = useId();
  const problem = (field: SpawnField) => {
    if (isTried && faults[field]) return faults[field];
    if (field !== refusedField || !spawn.error) return undefined;
    return asSentence(spawn.error.message);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (denied !== undefined) return;
    if (Object.keys(faults).length === 0 && !spawn.isPending) spawn.mutate(form);
  };
  const props = (field: SpawnField) => ({
    value: form[field],
    onChange: (value: string) => {
      spawn.reset();
      set(field, value);
    },
    problem: problem(field),
    warning: warningOf(field, form),
  });
  return (
    <Drawer
      title="Spawn an agent"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Guarded
            look="solid"
            align="end"
            type="submit"
            form={id}
            side="above"
            can={CAN_SPAWN}
            refused={spawn.isPending ? "It is being started." : undefined}
          >
            {spawn.isPending ? "Spawning…" : "Spawn"}
          </Guarded>
        </>
      }
    >
      <form id={id} className={styles.form} onSubmit={submit} noValidate>
        {spawn.error && refusedField === undefined && <ErrorNotice error={spawn.error} />}
        <Words label="Task" placeholder="Fix the login form" onSend={submit} {...props("task")} />
        <Where form={form} props={props} />
        <How props={props} form={form} />
        <CostSoFar form={form} />
        <Cli command={spawnCli(form)} />
      </form>
    </Drawer>
  );
}

type FieldProps = (field: SpawnField) => {
  value: string;
  onChange: (value: string) => void;
  problem: string | undefined;
  warning: string | undefined;
};

/** Whether it has to be said in which project it works. */
function useAsksProject(): boolean {
  const { projectId } = useProject();
  return useHomes().length > 1 && projectId === undefined;
}

/** On which bead, in which project. */
function Where({ form, props }: { form: SpawnForm; props: FieldProps }) {
  const homes = useHomes();
  const asksProject = useAsksProject();
  const ready = useQuery(readyBeads);
  return (
    <>
      <Line
        label="Bead"
        note={form.bead === "" ? "A new one is made of the task unless you name one." : undefined}
        placeholder="none"
        options={(ready.data?.items ?? []).map((bead) => [bead.id, bead.title] as const)}
        {...props("bead")}
      />
      {asksProject && (
        <Choice
          label="Project"
          options={[["", "Choose one"], ...homes.map(({ id, name }) => [id, name] as const)]}
          {...props("project")}
        />
      )}
    </>
  );
}

/** Who it is, behind which walls, and what it may spend. */
function How({ form, props }: { form: SpawnForm; props: FieldProps }) {
  const roles = useQuery(agentQueries.roles).data ?? [];
  const role = roles.find((one) => one.name === (form.role || "worker"));
  const models = useKnownModels();
  const usedUp = useUsedUp(form);
  const runtimes = useQuery(settingsQueries.runtimes).data?.items;
  const missing = whyNoRuntime(form.runtime, runtimes);
  const named = (words: readonly string[]) => words.map((word) => [word, word] as const);
  return (
    <div className={styles.grid}>
      <Choice
        label="Role"
        note={role?.description}
        options={[["", "worker, as usual"], ...named(roles.map(({ name }) => name))]}
        {...props("role")}
      />
      <Choice
        label="Agent"
        options={[["", "As the project says"], ...named(HARNESSES)]}
        {...props("harness")}
      />
      <Line
        label="Model"
        placeholder={role?.model ?? "as the project says"}
        options={named(models)}
        {...props("model")}
      />
      <Choice
        label="Runtime"
        note={capabilityWords(form.runtime, runtimes)}
        options={[
          ["", "worktree, as usual"],
          ...runtimeOptions(runtimes).map(
            ({ value, title, isRefused }) => [value, title, isRefused] as const,
          ),
        ]}
        {...props("runtime")}
        problem={props("runtime").problem ?? missing}
      />
      <Choice
        label="Walls"
        options={[["", `${role?.sandbox ?? "workspace"}, as usual`], ...named(SANDBOXES)]}
        {...props("sandbox")}
      />
      <Line
        label="Budget in dollars"
        placeholder="no limit"
        {...props("budget")}
        warning={usedUp.length > 0 ? <UsedUpNote budgets={usedUp} /> : undefined}
      />
      <Line label="Name" placeholder="its role and a number" {...props("name")} />
      <Line label="Ends after" placeholder="no limit; 30m or 2h" {...props("timeout")} />
      {form.sandbox === "workspace+net" && (
        <Line label="Hosts it may reach" placeholder="registry.npmjs.org" {...props("allow")} />
      )}
    </div>
  );
}

function CostSoFar({ form }: { form: SpawnForm }) {
  const agents = useQuery(agentQueries.all()).data?.items;
  const cost = agents && costSoFar(agents, form);
  return (
    <p className={styles.cost}>
      {cost
        ? `${plural(cost.runs, "agent")} like it cost so far: median ${money(cost.middle)}, at most ${money(cost.most)}.`
        : "No agent like it is done yet, so there is nothing to estimate its cost from."}
    </p>
  );
}

/** What is written for one bead, or for none, is kept until an agent is spawned with it. */
function useSpawnForm(bead = "") {
  const { projectId } = useProject();
  const [kept, keep] = useKept();
  const [initial] = useState<SpawnForm>(() => ({
    ...EMPTY_FORM,
    ...kept,
    bead,
    project: projectId ?? "",
  }));
  const { values: form, set, discard } = useFields(`spawn.${bead}`, initial);
  const remember = () => {
    discard();
    keep(Object.fromEntries(KEPT.map((field) => [field, form[field]])));
  };
  return { form, set, remember };
}

function useSpawn(onDone: () => void) {
  const tell = useTellStarted();
  return useMutation({
    mutationFn: (form: SpawnForm) => post("/api/v1/agents", requestOf(form)),
    onSuccess: (agent) => {
      tell(agent);
      onDone();
    },
  });
}
