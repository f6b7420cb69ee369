import { useMemo } from "react";
import { useParam } from "../../router/router";

/** No id and no title of a group has it. */
const BETWEEN = "~";

/** Groups or branches that are folded; in the address, so that a reload finds them as they were. */
export function useClosed(): [ReadonlySet<string>, (id: string) => void] {
  const [param = "", setParam] = useParam("closed");
  const closed = useMemo(() => new Set(param === "" ? [] : param.split(BETWEEN)), [param]);
  const toggle = (id: string) => {
    const after = new Set(closed);
    if (!after.delete(id)) after.add(id);
    setParam([...after].join(BETWEEN));
  };
  return [closed, toggle];
}
