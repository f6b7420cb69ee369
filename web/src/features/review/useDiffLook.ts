import { useAction } from "../../actions/actions";
import { useChoice, useParam } from "../../router/router";
import { REVIEW } from "./actions";

/** How a reader looks at a diff; the address holds it. */
export interface DiffLook {
  isSplit: boolean;
  hidesSpace: boolean;
  setSplit: (isSplit: boolean) => void;
  setHidesSpace: (hides: boolean) => void;
}

const SHAPES = ["unified", "split"] as const;

/** Split or unified, with or without changes of white space; `s` and `w` switch. */
export function useDiffLook(): DiffLook {
  const [shape, setShape] = useChoice("diff", SHAPES, "unified");
  const [space, setSpace] = useParam("space");
  const isSplit = shape === "split";
  const hidesSpace = space === "hidden";
  const setSplit = (yes: boolean) => setShape(yes ? "split" : "unified");
  const setHidesSpace = (yes: boolean) => setSpace(yes ? "hidden" : undefined);
  useAction(REVIEW.look, () => setSplit(!isSplit));
  useAction(REVIEW.space, () => setHidesSpace(!hidesSpace));
  return { isSplit, hidesSpace, setSplit, setHidesSpace };
}
