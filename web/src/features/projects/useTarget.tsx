import { useState } from "react";
import { Choice } from "../../ui/form/Choice";
import { useProject } from "./queries";

/** The project that something new goes to; with several, it must be said. */
export function useTarget() {
  const { projects, projectId } = useProject();
  const [chosen, setChosen] = useState<string>();
  const picked = chosen ?? projectId ?? "";
  const isOne = projects.length <= 1;
  const choice = !isOne && (
    <Choice
      label="Project"
      value={picked}
      options={[["", "Choose"], ...projects.map(({ id, name }) => [id, name] as const)]}
      onChange={setChosen}
    />
  );
  const project = isOne ? projects[0]?.id : picked || undefined;
  return { project, choice, needsProject: !isOne && picked === "" };
}
