import type { Listing } from "../../api/list";
import type { Bead } from "../../api/types";
import { count, plural } from "../../ui/format";
import { Arriving, PartialBadge } from "../../ui/Status";

/** How many beads are on the page, and what is missing of them. */
export function HowMany({ found, listing }: { found: number; listing: Listing<Bead> }) {
  const { items, isCut, isPart } = listing;
  return (
    <>
      {plural(found, "bead")}
      {isPart && <Arriving />}{" "}
      {isCut && <PartialBadge kind="limited" why={`Only the first ${count(items.length)}`} />}
    </>
  );
}
