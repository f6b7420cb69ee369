import { useState } from "react";
import type { Bead } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Menu } from "../../ui/Menu";
import { BulkBar } from "../../ui/table/BulkBar";
import { NewConvoy } from "../convoys/NewConvoy";
import { useBeadActs } from "./useBeadActs";

/** What can be done with several beads at once; the table has the same bar. */
export function BeadBar({ beads, onClear }: { beads: readonly Bead[]; onClear: () => void }) {
  const { statusItems, priorityItems, agentItems } = useBeadActs();
  const [isNaming, setNaming] = useState(false);
  const shared = { look: "line", size: "small", align: "left" } as const;
  return (
    <>
      <BulkBar count={beads.length} noun="bead" onClear={onClear}>
        <Menu {...shared} label="Move them" button="Move" items={() => statusItems(beads)} />
        <Menu
          {...shared}
          label="Set their priority"
          button="Priority"
          items={() => priorityItems(beads)}
        />
        <Menu {...shared} label="Assign them" button="Assign" items={() => agentItems(beads)} />
        <Guarded
          size="small"
          side="above"
          can="convoy:create:own"
          cli={`godel convoy create "..." ${beads.map(({ id }) => id).join(" ")}`}
          onClick={() => setNaming(true)}
        >
          New convoy
        </Guarded>
      </BulkBar>
      {isNaming && (
        <NewConvoy
          beads={beads}
          onClose={() => {
            setNaming(false);
            onClear();
          }}
        />
      )}
    </>
  );
}
