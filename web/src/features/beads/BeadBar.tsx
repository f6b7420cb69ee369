import { useState } from "react";
import type { Bead } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Menu } from "../../ui/Menu";
import { BulkBar } from "../../ui/table/BulkBar";
import { NewConvoy } from "../convoys/NewConvoy";
import { useConvoyItems } from "../convoys/useConvoyItems";
import { MAY_CHANGE, MAY_DELETE } from "./actions";
import { CloseDialog } from "./CloseDialog";
import { DeferDialog } from "./DeferDialog";
import { useAskAndDelete } from "./holding";
import { LabelDialog } from "./LabelDialog";
import { useBeadActs } from "./useBeadActs";
import { useForeign } from "./useForeign";

interface BeadBarProps {
  beads: readonly Bead[];
  onClear: () => void;
}

/** What can be done with several beads at once; the table has the same bar. */
export function BeadBar({ beads, onClear }: BeadBarProps) {
  const { statusItems, priorityItems, agentItems } = useBeadActs();
  const [asking, setAsking] = useState<"convoy" | "labels" | "later" | "close">();
  const { itemsFor } = useConvoyItems(() => setAsking("convoy"));
  const shared = { look: "line", size: "small", align: "left" } as const;
  const finish = () => {
    setAsking(undefined);
    onClear();
  };
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
        <Menu
          {...shared}
          label="Add them to a convoy"
          button="Add to convoy"
          items={() => itemsFor(beads)}
        />
        <BarButtons
          beads={beads}
          onClear={onClear}
          onLabels={() => setAsking("labels")}
          onLater={() => setAsking("later")}
          onClosing={() => setAsking("close")}
        />
      </BulkBar>
      {asking === "convoy" && <NewConvoy beads={beads} onClose={finish} />}
      {asking === "labels" && <LabelDialog beads={beads} onClose={() => setAsking(undefined)} />}
      {asking === "later" && <DeferDialog beads={beads} onClose={() => setAsking(undefined)} />}
      {asking === "close" && (
        <CloseDialog beads={beads} onClose={() => setAsking(undefined)} onClosed={finish} />
      )}
    </>
  );
}

interface BarButtonsProps extends BeadBarProps {
  onLabels: () => void;
  onLater: () => void;
  onClosing: () => void;
}

function BarButtons({ beads, onClear, onLabels, onLater, onClosing }: BarButtonsProps) {
  const foreign = useForeign()(beads);
  const foreignToDelete = useForeign("delete")(beads);
  const askAndDelete = useAskAndDelete();
  const shared = { size: "small", side: "above" } as const;
  const isAllOver = beads.every(({ status }) => status === "done");
  const whyAllOver = isAllOver ? "All of them are done." : undefined;
  const cliFor = (tail: (id: string) => string) =>
    beads.map(({ id }) => `godel bead ${tail(id)}`).join(" && ");
  return (
    <>
      <Guarded
        {...shared}
        can={MAY_CHANGE}
        refused={foreign}
        cli={cliFor((id) => `label add ${id} LABEL`)}
        onClick={onLabels}
      >
        Labels
      </Guarded>
      <Guarded
        {...shared}
        can={MAY_CHANGE}
        refused={foreign ?? whyAllOver}
        cli={cliFor((id) => `defer ${id} --until 3d`)}
        onClick={onLater}
      >
        Put off
      </Guarded>
      <Guarded
        {...shared}
        can={MAY_CHANGE}
        refused={foreign ?? whyAllOver}
        cli={cliFor((id) => `close ${id} --reason "..."`)}
        onClick={onClosing}
      >
        Close
      </Guarded>
      <Guarded
        {...shared}
        look="bad"
        can={MAY_DELETE}
        destructive
        refused={foreignToDelete}
        cli={cliFor((id) => `delete ${id}`)}
        onClick={async () => {
          if (await askAndDelete(beads)) onClear();
        }}
      >
        Delete
      </Guarded>
    </>
  );
}
