import { useQueryClient } from "@tanstack/react-query";
import { patch, post } from "../../api/client";
import type { Project } from "../../api/types";
import { toast } from "../../change/toasts";
import { FormDrawer } from "../../ui/form/FormDrawer";
import { FormField } from "../../ui/form/FormField";
import { placeError, useForm } from "../../ui/form/form";
import { WhatChanges } from "../../ui/form/WhatChanges";
import { amountOf, microsOf } from "../budgets/budgets";
import { projectsQuery } from "../projects/queries";
import { changesOf, limitsOf, type ProjectFields } from "./projectForm";

interface ProjectDrawerProps {
  project: Project | undefined;
  onClose: () => void;
}

/** Makes or changes a project; what will be different is listed before it is sent. */
export function ProjectDrawer({ project, onClose }: ProjectDrawerProps) {
  const client = useQueryClient();
  const initial = fieldsOf(project);
  const form = useForm<ProjectFields, Project>({
    initial,
    draft: `project.${project?.id ?? "new"}`,
    send: (values) => save(project, values),
    done: (saved) => {
      client.invalidateQueries({ queryKey: projectsQuery.queryKey });
      toast({ title: `${saved.name} is saved` });
      onClose();
    },
  });
  const { values } = form;
  const { fields, rest } = placeError(form.error, {
    repository: /repository/i,
    models: /model/i,
    name: /name|called|taken/i,
    budget: /budget/i,
    agents: /agents/i,
    rate: /requests|minute/i,
    description: /description/i,
  });
  const changes = changesOf(initial, values);
  const isBudgetBad = values.budget !== "" && microsOf(values.budget) === undefined;
  const refused = whyNot(values, isBudgetBad, project !== undefined && changes.length === 0);
  const faults = { ...fields, ...(isBudgetBad && { budget: "Write dollars, such as 200." }) };
  const props = { form, faults };
  return (
    <FormDrawer
      title={project ? `Change ${project.name}` : "Create a project"}
      act={project ? "Save the changes" : "Create the project"}
      onClose={onClose}
      form={form}
      can={project ? "project:update:team" : "project:create:team"}
      refused={refused}
      error={rest}
      cli={cliOf(project, values)}
    >
      <FormField {...props} name="name" label="Name" autoFocus />
      <FormField {...props} name="description" label="What it is about" />
      <FormField
        {...props}
        name="repository"
        label="Repository"
        placeholder="/home/ann/app"
        note="The absolute path of its git repository on the server."
      />
      <FormField
        {...props}
        name="budget"
        label="Budget of a month, in dollars"
        note="Nothing means no limit."
      />
      <FormField {...props} name="agents" label="Agents at the same time" type="number" min={1} />
      <FormField
        {...props}
        name="rate"
        label="Requests to models in a minute"
        type="number"
        min={1}
      />
      <FormField
        {...props}
        name="models"
        label="Only these models"
        placeholder="claude-*, gpt-*"
        note="Patterns with commas between them; nothing means all."
      />
      {project && <WhatChanges changes={changes} />}
    </FormDrawer>
  );
}

function whyNot(values: ProjectFields, isBudgetBad: boolean, isSame: boolean): string | undefined {
  if (values.name.trim() === "") return "Say a name first.";
  if (isBudgetBad) return "The budget is no amount of dollars.";
  return isSame ? "Nothing was changed." : undefined;
}

function save(project: Project | undefined, values: ProjectFields): Promise<Project> {
  const body = {
    name: values.name.trim(),
    description: values.description,
    repository: values.repository.trim(),
    limits: limitsOf(project?.limits, values),
  };
  if (project) return patch(`/api/v1/projects/${encodeURIComponent(project.id)}`, body);
  const { repository, ...rest } = body;
  return post("/api/v1/projects", repository === "" ? rest : body);
}

function fieldsOf(project: Project | undefined): ProjectFields {
  const { limits } = project ?? {};
  const number = (value: number | null | undefined) => (value ? String(value) : "");
  return {
    name: project?.name ?? "",
    description: project?.description ?? "",
    repository: project?.repository ?? "",
    budget: limits?.monthlyBudgetMicros ? amountOf(limits.monthlyBudgetMicros) : "",
    agents: number(limits?.maxAgents),
    rate: number(limits?.requestsPerMinute),
    models: (limits?.models ?? []).join(", "),
  };
}

function cliOf(project: Project | undefined, values: ProjectFields): string {
  const name = values.name.trim() || "NAME";
  const parts = project
    ? [`godel project update ${project.name}`, name !== project.name && `--name ${name}`]
    : [`godel project create ${name}`];
  if (values.repository) parts.push(`--repository ${values.repository}`);
  if (values.budget) parts.push(`--budget ${values.budget}/month`);
  if (values.agents) parts.push(`--max-agents ${values.agents}`);
  if (values.rate) parts.push(`--rate ${values.rate}/min`);
  if (values.models) parts.push(`--models "${values.models.replaceAll(" ", "")}"`);
  return parts.filter(Boolean).join(" ");
}
