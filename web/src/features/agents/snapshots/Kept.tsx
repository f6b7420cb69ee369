import { useAction } from "../../../actions/actions";
import { useParam } from "../../../router/router";
import { Menu } from "../../../ui/Menu";
import { KEPT } from "../actions";
import { ImportDrawer } from "./ImportDrawer";
import { SessionDrawer } from "./SessionDrawer";
import { SnapshotDrawer } from "./SnapshotDrawer";

/** What was kept of agents: snapshots, sessions, and what comes from elsewhere. */
export function Kept() {
  const [open, setOpen] = useParam("kept");
  const close = () => setOpen(undefined);
  const lines = [
    { spec: KEPT.snapshots, id: "snapshots", cli: "godel agent snapshots" },
    { spec: KEPT.import, id: "import", cli: "godel agent import FILE" },
    { spec: KEPT.sessions, id: "sessions", cli: "godel session list" },
  ] as const;
  useAction(KEPT.snapshots, () => setOpen("snapshots"), { cli: "godel agent snapshots" });
  useAction(KEPT.import, () => setOpen("import"), { cli: "godel agent import" });
  useAction(KEPT.sessions, () => setOpen("sessions"), { cli: "godel session list" });
  return (
    <>
      <Menu
        label="Snapshots and sessions"
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
    </>
  );
}
