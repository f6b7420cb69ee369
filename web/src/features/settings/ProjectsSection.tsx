import { useQuery } from "@tanstack/react-query";
import { remove } from "../../api/client";
import type { Listing } from "../../api/list";
import type { Project } from "../../api/types";
import { confirm } from "../../change/confirm";
import { useChange } from "../../change/useChange";
import { Guarded } from "../../roles/Guarded";
import { useParam } from "../../router/router";
import { Empty } from "../../ui/Empty";
import { money, plural } from "../../ui/format";
import { Loaded } from "../../ui/Loaded";
import { Menu } from "../../ui/Menu";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge } from "../../ui/Status";
import { projectsQuery } from "../projects/queries";
import { ProjectDrawer } from "./ProjectDrawer";
import { Line, Lines, Section } from "./Section";

/** What work belongs to, where its repository is, and what it may use. */
export function ProjectsSection() {
  const query = useQuery(projectsQuery);
  const [open, setOpen] = useParam("edit");
  const edited = query.data?.items.find(({ id }) => id === open);
  const create = (title: string) => (
    <Guarded
      look="solid"
      can="project:create:team"
      cli="godel project create NAME"
      onClick={() => setOpen("new")}
    >
      {title}
    </Guarded>
  );
  return (
    <Section
      title="Projects"
      lead="Work belongs to a project: its repository, its people, and what it may use."
      acts={create("Create a project")}
    >
      <Loaded query={query} what="The projects" skeleton={<SkeletonRows rows={3} height={54} />}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty
              icon="branch"
              why="There is no project yet."
              action={create("Create the first project")}
              cli="godel project create web --repository ."
            />
          ) : (
            <Lines label="Projects">
              {items.map((project) => (
                <ProjectLine
                  key={project.id}
                  project={project}
                  onChange={() => setOpen(project.id)}
                />
              ))}
            </Lines>
          )
        }
      </Loaded>
      {(open === "new" || edited) && (
        <ProjectDrawer
          key={open}
          project={open === "new" ? undefined : edited}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Section>
  );
}

function ProjectLine({ project, onChange }: { project: Project; onChange: () => void }) {
  const erase = useRemoveProject();
  const { name } = project;
  return (
    <Line
      id={name}
      title={name}
      note={project.repository || project.description || "no repository"}
      state={<Limits project={project} />}
      acts={
        <Menu
          label={`Do something with the project ${name}`}
          size="small"
          items={[
            {
              id: "edit",
              title: "Change",
              icon: "edit",
              can: "project:update:team",
              cli: `godel project update ${name}`,
              run: onChange,
            },
            {
              id: "delete",
              title: "Delete",
              icon: "trash",
              can: "project:delete:team",
              destructive: true,
              cli: `godel project delete ${name}`,
              run: async () => {
                if (await confirmDelete(project)) erase.mutate(project);
              },
            },
          ]}
        />
      }
    />
  );
}

function Limits({ project }: { project: Project }) {
  const { monthlyBudgetMicros, maxAgents, requestsPerMinute, models } = project.limits;
  return (
    <>
      {monthlyBudgetMicros && <Badge>{money(monthlyBudgetMicros)} a month</Badge>}
      {maxAgents && <Badge>{plural(maxAgents, "agent")}</Badge>}
      {requestsPerMinute && <Badge>{requestsPerMinute} requests a minute</Badge>}
      {(models ?? []).length > 0 && <Badge title={models?.join(", ")}>only some models</Badge>}
    </>
  );
}

function useRemoveProject() {
  return useChange<Project, void>({
    what: (project) => `Delete ${project.name}`,
    send: (project) => remove(`/api/v1/projects/${encodeURIComponent(project.id)}`),
    expect: (cache, project) =>
      cache.update<Listing<Project>>(projectsQuery.queryKey, (listing) => ({
        ...listing,
        items: listing.items.filter(({ id }) => id !== project.id),
      })),
    settle: () => [projectsQuery.queryKey],
    done: (project) => `${project.name} is deleted`,
  });
}

function confirmDelete(project: Project): Promise<boolean> {
  return confirm({
    title: `Delete ${project.name}?`,
    body: "Its repository stays as it is on the disk.",
    word: project.name,
    act: "Delete the project",
    cli: `godel project delete ${project.name}`,
  });
}
