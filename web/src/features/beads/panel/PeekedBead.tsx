import { Boundary } from "../../../ui/Boundary";
import type { BeadGraph } from "../graph";
import { BeadPanel } from "./BeadPanel";

interface PeekedBeadProps {
  id: string | undefined;
  graph: BeadGraph;
  onOpen: (id: string) => void;
  onClose: () => void;
}

/** The bead beside a list, if one is peeked at; what breaks in it leaves the list as it is. */
export function PeekedBead({ id, ...rest }: PeekedBeadProps) {
  if (id === undefined) return null;
  return (
    <Boundary key={id} what="The bead">
      <BeadPanel id={id} {...rest} />
    </Boundary>
  );
}
