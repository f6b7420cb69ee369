import type { Workflow } from "../../../api/types";
import { confirm } from "../../../change/confirm";
import { setParams } from "../../../router/router";
import { shellWord } from "../../../ui/format";
import type { MenuItem } from "../../../ui/Menu";
import { peekAt } from "../peek";
import { type Export, exportWorkflow, useDeleteWorkflow } from "./queries";
import { useForeignWorkflow } from "./useForeignWorkflow";

/** What can be done with a stored workflow: one call for its line and its panel. */
export function useWorkflowActs() {
  const erase = useDeleteWorkflow();
  const foreign = useForeignWorkflow();
  return (workflow: Workflow): MenuItem[] => {
    const { name } = workflow;
    const word = shellWord(name);
    const taken = (format: Export, title: string, cli: string): MenuItem => ({
      id: format,
      title,
      icon: "down",
      cli,
      run: () => exportWorkflow(name, format),
    });
    return [
      {
        id: "view",
        title: "View",
        icon: "eye",
        cli: `godel workflow show ${word}`,
        run: () => peekAt("workflow", name),
      },
      {
        id: "run",
        title: "Run",
        icon: "play",
        can: "workflow:execute:own",
        cli: `godel workflow run ${word}`,
        run: () => setParams({ start: name }),
      },
      {
        id: "edit",
        title: "Change",
        icon: "edit",
        can: "workflow:update:own",
        refused: foreign(workflow),
        cli: "godel workflow save FILE",
        run: () => setParams({ save: name }),
      },
      taken("mermaid", "Export as Mermaid", `godel workflow export ${word}`),
      taken("dot", "Export as DOT", `godel workflow export ${word} --format dot`),
      taken("yaml", "Download the text", `godel workflow show ${word}`),
      {
        id: "delete",
        title: "Delete",
        icon: "trash",
        can: "workflow:delete:team",
        destructive: true,
        cli: `godel workflow delete ${word}`,
        run: async () => {
          const isSure = await confirm({
            title: `Delete ${name}?`,
            body: "It cannot be run any more. Its runs stay, and those that have begun go on.",
            act: "Delete the workflow",
            cli: `godel workflow delete ${word}`,
          });
          if (!isSure) return;
          setParams({ workflow: undefined });
          erase.mutate(workflow);
        },
      },
    ];
  };
}
