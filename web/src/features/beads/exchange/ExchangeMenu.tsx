import { useState } from "react";
import { useAction } from "../../../actions/actions";
import { tellRefusal } from "../../../change/useChange";
import { setParams, useParam } from "../../../router/router";
import { Menu } from "../../../ui/Menu";
import { saveAs } from "../../../ui/saveAs";
import { useProject } from "../../projects/queries";
import { BEAD } from "../actions";
import { FIND, MemoryDrawer } from "../memories/MemoryDrawer";
import { EXPORT_CLI, EXPORT_NAME, exportBeads, importCli, MAY_IMPORT } from "./exchange";
import { ImportDrawer } from "./ImportDrawer";

const MEMORIES = "memories";
const MEMORIES_CLI = "godel memories";

/** Beads from a file, and into one; and what is remembered beside them. */
export function ExchangeMenu() {
  const [isImporting, setImporting] = useState(false);
  const [kept, setKept] = useParam("kept");
  useAction(BEAD.memories, () => setKept(MEMORIES), { cli: MEMORIES_CLI });
  const { projects, projectId } = useProject();
  const isUnclear = projects.length > 1 && projectId === undefined;
  const save = async () => {
    try {
      saveAs(EXPORT_NAME, await exportBeads(projectId));
    } catch (error) {
      tellRefusal("Export the beads", error as Error, save);
    }
  };
  return (
    <>
      <Menu
        label="Import, export and more"
        look="line"
        items={[
          {
            id: "import",
            title: "Import…",
            icon: "up",
            can: MAY_IMPORT,
            cli: importCli(undefined),
            run: () => setImporting(true),
          },
          {
            id: "export",
            title: "Export",
            icon: "down",
            cli: EXPORT_CLI,
            refused: isUnclear ? "Choose a project at the top first; a file has one." : undefined,
            run: save,
          },
          {
            id: "memories",
            title: BEAD.memories.title,
            icon: BEAD.memories.icon,
            can: BEAD.memories.can,
            cli: MEMORIES_CLI,
            run: () => setKept(MEMORIES),
          },
        ]}
      />
      {kept === MEMORIES && (
        <MemoryDrawer onClose={() => setParams({ kept: undefined, [FIND]: undefined })} />
      )}
      {isImporting && <ImportDrawer onClose={() => setImporting(false)} />}
    </>
  );
}
