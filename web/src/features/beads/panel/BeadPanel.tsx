import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../../../actions/actions";
import { BACK } from "../../../actions/common";
import type { BeadDetail } from "../../../api/types";
import { Cli } from "../../../ui/Cli";
import { SidePanel } from "../../../ui/Drawer";
import { Icon } from "../../../ui/Icon";
import { Loaded } from "../../../ui/Loaded";
import { ShortId } from "../../../ui/ShortId";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Tabs } from "../../../ui/Tabs";
import { useNow } from "../../../ui/useNow";
import { BeadPreview } from "../../previews/BeadPreview";
import { BEAD } from "../actions";
import { TypeMark } from "../BeadMarks";
import { type BeadGraph, explain } from "../graph";
import { beadQueries } from "../queries";
import { TitleField } from "../TitleField";
import { useBeadActs } from "../useBeadActs";
import { About } from "./About";
import { Activity } from "./Activity";
import styles from "./BeadPanel.module.css";
import { Links } from "./Links";
import { PanelMenus } from "./PanelMenus";
import { Work } from "./Work";

interface BeadPanelProps {
  id: string;
  /** All beads, for names of those that are linked and for what holds this one up. */
  graph: BeadGraph;
  onOpen: (id: string) => void;
  onClose: () => void;
}

/** One bead beside a list or a board: what it says, what it is linked to, what happened to it. */
export function BeadPanel({ id, graph, onOpen, onClose }: BeadPanelProps) {
  const query = useQuery(beadQueries.one(id));
  useAction(BACK, onClose, { title: "Close the panel" });
  return (
    <SidePanel
      label={`Bead ${id}`}
      head={
        <span className={styles.head}>
          {query.data && <TypeMark type={query.data.type} />}
          <ShortId id={id} />
        </span>
      }
      onClose={onClose}
    >
      <Loaded query={query} what="The bead" skeleton={<SkeletonRows rows={6} />}>
        {(bead) => <Inside bead={bead} graph={graph} onOpen={onOpen} onClose={onClose} />}
      </Loaded>
    </SidePanel>
  );
}

type InsideProps = Omit<BeadPanelProps, "id"> & { bead: BeadDetail };

function Inside({ bead, graph, onOpen, onClose }: InsideProps) {
  const now = useNow(60_000);
  const [isEditing, setEditing] = useState(false);
  const { assignToMe, assignCli } = useBeadActs();
  useAction(BEAD.edit, () => setEditing(true), {
    cli: `godel bead update ${bead.id} --title "..."`,
  });
  useAction(BEAD.assign, () => assignToMe([bead]), {
    title: `Assign ${bead.id} to me`,
    cli: assignCli(bead),
  });
  const isBlocked = graph.isBlocked(bead);
  return (
    <div className={styles.stack}>
      <TitleField bead={bead} isEditing={isEditing} onEditing={setEditing} />
      <PanelMenus bead={bead} onGone={onClose} />
      <p className={isBlocked ? styles.blocked : styles.why}>
        <Icon name={isBlocked ? "lock" : "check"} size={14} />
        {explain(graph, bead, now)}
      </p>
      <BeadPreview bead={bead} isIdle={bead.status === "open"} />
      <Tabs
        label="Parts of the bead"
        tabs={[
          { id: "about", title: "About" },
          {
            id: "links",
            title: "Links",
            count: bead.links.length + graph.waitersOf(bead.id).length,
          },
          { id: "work", title: "Work", count: bead.checkedCommits.length },
          { id: "activity", title: "Activity", count: bead.comments.length },
        ]}
      >
        {(tab) => {
          if (tab === "links") return <Links bead={bead} graph={graph} onOpen={onOpen} />;
          if (tab === "work") return <Work bead={bead} />;
          if (tab === "activity") return <Activity bead={bead} />;
          return <About bead={bead} />;
        }}
      </Tabs>
      <Cli command={`godel bead show ${bead.id}`} />
    </div>
  );
}
