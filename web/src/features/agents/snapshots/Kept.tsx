import { useAction } from "../../../actions/actions";
import { useParam } from "../../../router/router";
import { Menu } from "../../../ui/Menu";
import { KEPT } from "../actions";
import { LetterDrawer } from "../mail/LetterDrawer";
import { WorktreeDrawer } from "../worktrees/WorktreeDrawer";
import { ImportDrawer } from "./ImportDrawer";
import { SessionDrawer } from "./SessionDrawer";
import { SnapshotDrawer } from "./SnapshotDrawer";

/** What was kept of agents: snapshots, sessions, letters, worktrees, and what comes from elsewhere. */
export function Kept() {
  const [open, setOpen] = useParam("kept");
  const close = () => setOpen(undefined);
  const lines = [
    { spec: KEPT.snapshots, id: "snapshots", cli: "godel agent snapshots" },
    { spec: KEPT.import, id: "import", cli: "godel agent import FILE" },
    { spec: KEPT.sessions, id: "sessions", cli: "godel session list" },
    { spec: KEPT.letters, id: "letters", cli: "godel mail list" },
    { spec: KEPT.worktrees, id: "worktrees", cli: "godel worktree list" },
  ] as const;
  useAction(KEPT.snapshots, () => setOpen("snapshots"), { cli: "godel agent snapshots" });
  useAction(KEPT.import, () => setOpen("import"), { cli: "godel agent import" });
  useAction(KEPT.sessions, () => setOpen("sessions"), { cli: "godel session list" });
  useAction(KEPT.letters, () => setOpen("letters"), { cli: "godel mail list" });
  useAction(KEPT.worktrees, () => setOpen("worktrees"), { cli: "godel worktree list" });
  return (
    <>
      <Menu
        label="Snapshots, sessions and more"
        size="small"
        items={lines.map(({ spec, id, cli }) => ({
          id,
          title: spec.title,
          icon: spec.icon,
          can: spec.can,
          cli,
          run: () => setOpen(id),
        }))}
      />
      {open === "snapshots" && (
        <SnapshotDrawer onImport={() => setOpen("import")} onClose={close} />
      )}
      {open === "import" && <ImportDrawer onClose={close} onDone={() => setOpen("snapshots")} />}
      {open === "sessions" && <SessionDrawer onClose={close} />}
      {open === "letters" && <LetterDrawer onClose={close} />}
      {open === "worktrees" && <WorktreeDrawer onClose={close} />}
    </>
  );
}
