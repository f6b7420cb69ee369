import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Team } from "../../api/types";
import { toast } from "../../change/toasts";
import { setParams } from "../../router/router";
import { TextField } from "../../ui/Field";
import { FileDrop } from "../../ui/FileDrop";
import { Choice } from "../../ui/form/Choice";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { placeError, useForm } from "../../ui/form/form";
import { LongField } from "../../ui/form/LongField";
import { Segmented } from "../../ui/Tabs";
import { agentQueries } from "../agents/queries";
import { useProject } from "../projects/queries";
import { createTeam, teamQueries, updateTeam } from "./queries";
import styles from "./TeamDrawer.module.css";
import {
  bodyOf,
  NO_OBJECT,
  STRATEGIES,
  type TeamValues,
  teamCli,
  toldAs,
  valuesOf,
  whyNotSend,
} from "./teamForm";

const MODES = [
  { id: "form", title: "Form" },
  { id: "json", title: "JSON or a file" },
] as const;

/** Which field an answer of the server is about. */
const WORDS = {
  name: /has a name/i,
  size: /agents, not|at once/i,
  roles: /\brole/i,
  budget: /budget/i,
  // One that is further away than a run may take.
  deadline: /deadline|not a duration/i,
  attempts: /attempt|retry/i,
  items: /items/i,
};

interface TeamDrawerProps {
  /** The team that is changed; a new one if none is given. */
  team?: Team | undefined;
  onClose: () => void;
}

/** Makes a team, or changes what one is asked to do. */
export function TeamDrawer({ team: newest, onClose }: TeamDrawerProps) {
  // What others change meanwhile is no change of whoever fills this form.
  const [team] = useState(newest);
  const form = useTeamForm(team, onClose);
  const { values, set } = form;
  const { fields, rest } = placeError(form.error, values.mode === "json" ? {} : WORDS);
  const isSame = team !== undefined && Object.keys(bodyOf(values, team)).length === 0;
  const toMode = (mode: "form" | "json") => {
    const told = toldAs(mode, values, team) ?? {};
    for (const name of Object.keys(told) as (keyof TeamValues)[]) set(name, told[name] ?? "");
  };
  const shared = { values, set, errors: fields };
  return (
    <FormDrawer
      title={team ? `Change ${team.name}` : "New team"}
      act={team ? "Save the change" : "Create the team"}
      onClose={onClose}
      form={form}
      can={team ? "team:update:team" : "team:create:team"}
      refused={whyNotSend(values) ?? (isSame ? "Nothing is changed yet." : undefined)}
      error={rest}
      cli={whyNotSend(values) === undefined && !isSame ? teamCli(values, team) : undefined}
    >
      {team && hasBegun(team) ? (
        <>
          <p className={styles.note}>It has begun, so only its budget and deadline can change.</p>
          <Bounds {...shared} />
        </>
      ) : (
        <>
          <Segmented
            label="How to say it"
            options={MODES}
            value={values.mode === "json" ? "json" : "form"}
            onChange={toMode}
          />
          {values.mode === "json" ? (
            <AsJson {...shared} />
          ) : (
            <>
              <Work {...shared} />
              <Members {...shared} />
              <Bounds {...shared} />
              <Attempts {...shared} />
            </>
          )}
        </>
      )}
    </FormDrawer>
  );
}

function useTeamForm(team: Team | undefined, onClose: () => void) {
  const client = useQueryClient();
  return useForm<TeamValues, Team>({
    draft: draftOf(team),
    initial: valuesOf(team),
    send: (values) => {
      const body = bodyOf(values, team);
      return team ? updateTeam(team.id, body) : createTeam(body);
    },
    done: (made) => {
      client.invalidateQueries({ queryKey: teamQueries.all.queryKey });
      client.invalidateQueries({ queryKey: ["team", made.id] });
      toast({ title: team ? `${made.name} is changed` : `${made.name} is made; start it next` });
      onClose();
      setParams({ team: made.id });
    },
  });
}

/** One that has begun has another form, which must not send what was written in the whole one. */
function draftOf(team: Team | undefined): string {
  if (!team) return "team.new";
  return `team.${team.id}${hasBegun(team) ? ".bounds" : ""}`;
}

function hasBegun(team: Team): boolean {
  return team.state !== "created";
}

interface PartProps {
  values: TeamValues;
  set: (name: keyof TeamValues, value: string) => void;
  errors: Partial<Record<keyof typeof WORDS, string>>;
}

function Work({ values, set, errors }: PartProps) {
  const [, , means] = STRATEGIES.find(([id]) => id === values.strategy) ?? STRATEGIES[0];
  return (
    <>
      <TextField
        label="Name"
        value={values.name}
        autoFocus
        autoComplete="off"
        placeholder="review"
        error={errors.name}
        onChange={(event) => set("name", event.target.value)}
      />
      <Choice
        label="Strategy"
        value={values.strategy}
        options={STRATEGIES.map(([id, title]) => [id, title] as const)}
        onChange={(strategy) => set("strategy", strategy)}
        note={means}
      />
      <LongField
        label="Goal"
        rows={3}
        value={values.goal}
        placeholder="Find what is wrong in these files"
        note="What it is all for; each member is told."
        onChange={(event) => set("goal", event.target.value)}
      />
      <LongField
        label="Items"
        rows={4}
        isSource
        value={values.items}
        placeholder={"src/a.rs\nsrc/b.rs"}
        note="One piece of work a line; none means one piece, the goal itself."
        error={errors.items}
        onChange={(event) => set("items", event.target.value)}
      />
    </>
  );
}

function Members({ values, set, errors }: PartProps) {
  const joins = values.strategy === "map-reduce" || values.strategy === "tree";
  return (
    <>
      <TextField
        label="Roles"
        value={values.roles}
        error={errors.roles}
        note={
          values.strategy === "pipeline"
            ? "The stages in their order, with commas between them."
            : "With commas between them; each does every item."
        }
        onChange={(event) => set("roles", event.target.value)}
      />
      {values.strategy === "tree" && (
        <TextField
          label="Who plans first"
          value={values.lead}
          placeholder="lead"
          onChange={(event) => set("lead", event.target.value)}
        />
      )}
      {joins && (
        <TextField
          label="Who joins the results"
          value={values.merge}
          placeholder="The first role"
          onChange={(event) => set("merge", event.target.value)}
        />
      )}
      <DoneBy values={values} set={set} />
      <TextField
        label="How many work at once"
        type="number"
        min={1}
        max={10_000}
        value={values.size}
        error={errors.size}
        onChange={(event) => set("size", event.target.value)}
      />
    </>
  );
}

function DoneBy({ values, set }: Omit<PartProps, "errors">) {
  const roles = useQuery(agentQueries.roles);
  const { projects } = useProject();
  const byAgents = values.agentRole !== "";
  return (
    <>
      <Choice
        label="Done by"
        value={values.agentRole}
        options={[
          ["", "Workers of a pool"],
          ...(roles.data ?? []).map(({ name }) => [name, `Agents: ${name}`] as const),
        ]}
        onChange={(role) => set("agentRole", role)}
        note={
          byAgents
            ? "Each piece becomes a bead, and an agent works on it."
            : "Each piece becomes a task of the queue."
        }
      />
      {byAgents && projects.length > 1 && (
        <Choice
          label="Project"
          value={values.project}
          options={[["", "Choose"], ...projects.map(({ id, name }) => [id, name] as const)]}
          onChange={(project) => set("project", project)}
        />
      )}
      {!byAgents && (
        <TextField
          label="Pool"
          value={values.pool}
          note="Where its tasks wait until a worker takes them."
          onChange={(event) => set("pool", event.target.value)}
        />
      )}
    </>
  );
}

function Bounds({ values, set, errors }: PartProps) {
  return (
    <>
      <TextField
        label="Budget, in dollars"
        inputMode="decimal"
        value={values.budget}
        placeholder="No limit"
        error={errors.budget}
        note="When it is spent the team pauses, and you are told."
        onChange={(event) => set("budget", event.target.value)}
      />
      <TextField
        label="Deadline"
        type="datetime-local"
        value={values.deadline}
        error={errors.deadline}
        note="In your time zone; none if it is left empty."
        onChange={(event) => set("deadline", event.target.value)}
      />
    </>
  );
}

function Attempts({ values, set, errors }: PartProps) {
  return (
    <TextField
      label="How often a piece is tried"
      type="number"
      min={1}
      max={100}
      value={values.attempts}
      error={errors.attempts}
      note="Another member tries next, where one is able."
      onChange={(event) => set("attempts", event.target.value)}
    />
  );
}

function AsJson({ values, set }: PartProps) {
  const isWrong = values.json.trim() !== "" && whyNotSend(values) !== undefined;
  return (
    <>
      <FileDrop
        label="A file that says what the team is asked to do"
        accept=".json,application/json"
        chosen={undefined}
        onChoose={async (file) => set("json", await file.text())}
      />
      <LongField
        label="The team, as JSON"
        rows={18}
        isSource
        value={values.json}
        error={isWrong ? `${NO_OBJECT} Or leave it empty to go back to the form.` : undefined}
        note="All fields of a team: also copies, fanOut, aggregate, quorum, tolerate, timeoutSeconds, requires."
        onChange={(event) => set("json", event.target.value)}
      />
    </>
  );
}
