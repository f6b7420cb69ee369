import { useState } from "react";
import { tellRefusal } from "../../../change/useChange";
import { Menu } from "../../../ui/Menu";
import { saveAs } from "../../../ui/saveAs";
import { useProject } from "../../projects/queries";
import { EXPORT_CLI, EXPORT_NAME, exportBeads, importCli, MAY_IMPORT } from "./exchange";
import { ImportDrawer } from "./ImportDrawer";

/** Beads from a file, and into one. */
export function ExchangeMenu() {
  const [isImporting, setImporting] = useState(false);
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
        label="Import and export"
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
        ]}
      />
      {isImporting && <ImportDrawer onClose={() => setImporting(false)} />}
    </>
  );
}
