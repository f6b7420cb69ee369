import { useState } from "react";
import { type ActionSpec, useAction } from "../../../actions/actions";
import type { BeadDetail } from "../../../api/types";
import { Icon } from "../../../ui/Icon";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { NewConvoy } from "../../convoys/NewConvoy";
import { useConvoyItems } from "../../convoys/useConvoyItems";
import { useRevertItem } from "../../landing/revert";
import { BEAD, MAY_DELETE } from "../actions";
import { AgentMark, PriorityMark, StatusMark, TypeMark } from "../BeadMarks";
import { DeferDialog } from "../DeferDialog";
import { useDeferItems } from "../defer";
import { useAskAndDelete } from "../holding";
import { useBeadActs } from "../useBeadActs";
import { useForeign } from "../useForeign";
import { useHoldItems } from "../useHoldItems";
import styles from "./BeadPanel.module.css";

interface PanelMenusProps {
  bead: BeadDetail;
  /** It was deleted. */
  onGone: () => void;
}

/** What the bead is, each a button that changes it. */
export function PanelMenus({ bead, onGone }: PanelMenusProps) {
  const { statusItems, priorityItems, typeItems, agentItems } = useBeadActs();
  const shared = { look: "line", size: "small", align: "left" } as const;
  return (
    <div className={styles.line}>
      <Menu
        {...shared}
        label={`Status: ${bead.status}`}
        button={<StatusMark bead={bead} />}
        items={statusItems([bead])}
      />
      <Menu
        {...shared}
        label={`Priority: ${bead.priority}`}
        button={<PriorityMark bead={bead} />}
        items={priorityItems([bead])}
      />
      <Menu
        {...shared}
        label={`Agent: ${bead.agent ?? "nobody"}`}
        button={<AgentMark agent={bead.agent} />}
        items={agentItems([bead])}
      />
      <Menu
        {...shared}
        label={`Type: ${bead.type}`}
        button={<TypeMark type={bead.type} />}
        items={typeItems([bead])}
      />
      <ConvoyMenu bead={bead} />
      <MoreMenu bead={bead} onGone={onGone} />
    </div>
  );
}

/** In which convoys it is; choosing one puts it in or takes it out. */
function ConvoyMenu({ bead }: { bead: BeadDetail }) {
  const [isNaming, setNaming] = useState(false);
  const { itemsFor, convoysOf } = useConvoyItems(() => setNaming(true));
  const names = convoysOf([bead]).map(({ name }) => name);
  return (
    <>
      <Menu
        look="line"
        size="small"
        align="left"
        label={names.length > 0 ? `Convoy: ${names.join(", ")}` : "Add to convoy"}
        button={
          <>
            <Icon name="convoys" size={13} />
            {names.length > 0 ? names.join(", ") : "Add to convoy…"}
          </>
        }
        items={() => itemsFor([bead])}
      />
      {isNaming && <NewConvoy beads={[bead]} onClose={() => setNaming(false)} />}
    </>
  );
}

function MoreMenu({ bead, onGone }: PanelMenusProps) {
  const holdItems = useHoldItems()(bead);
  const [isPuttingOff, setPuttingOff] = useState(false);
  const deferItems = useDeferItems(() => setPuttingOff(true))(bead);
  const foreign = useForeign("delete")([bead]);
  const askAndDelete = useAskAndDelete();
  const revert = useRevertItem()(bead);
  const erase: MenuItem = {
    id: "delete",
    title: "Delete…",
    icon: "trash",
    can: MAY_DELETE,
    destructive: true,
    refused: foreign,
    cli: `godel bead delete ${bead.id}`,
    run: async () => {
      if (await askAndDelete([bead])) onGone();
    },
  };
  useMenuAction(BEAD.claim, `Claim ${bead.id}`, holdItems[0]);
  useMenuAction(BEAD.defer, `Put off ${bead.id}`, deferItems[0]);
  useMenuAction(BEAD.undefer, `No longer put off ${bead.id}`, deferItems[1]);
  useMenuAction(BEAD.revert, `Revert ${bead.id}`, revert);
  useMenuAction(BEAD.remove, `Delete ${bead.id}`, erase);
  return (
    <>
      <Menu
        size="small"
        label={`Do something with ${bead.id}`}
        items={() => [...holdItems, ...deferItems, revert, erase]}
      />
      {isPuttingOff && <DeferDialog beads={[bead]} onClose={() => setPuttingOff(false)} />}
    </>
  );
}

/** The same line in the palette. */
function useMenuAction(spec: ActionSpec, title: string, item: MenuItem | undefined): void {
  useAction(spec, () => item?.run(), { title, cli: item?.cli, disabled: item?.refused });
}
