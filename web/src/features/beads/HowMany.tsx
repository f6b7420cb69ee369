import type { Listing } from "../../api/list";
import type { Bead } from "../../api/types";
import { count, plural } from "../../ui/format";
import { Arriving } from "../../ui/Status";

interface HowManyProps {
  found: number;
  listing: Listing<Bead>;
}

/** How many beads are on the page; `10,000+` if those are not all. */
export function HowMany({ found, listing }: HowManyProps) {
  const { items, isCut, isPart } = listing;
  const isOpenEnded = isCut && found >= items.length;
  return (
    <>
      {isOpenEnded ? `${count(found)}+ beads` : plural(found, "bead")}
      {isPart && <Arriving />}
    </>
  );
}
