import { useCallback, useState } from "react";
import type { ReviewFile } from "../../api/types";
import { useStored } from "../../ui/useStored";

/** What a file holds; a file that is pushed again has to be looked at again. */
const contentOf = (file: ReviewFile) => `${file.old?.id ?? ""} ${file.new?.id ?? ""}`;

/** Which files a person has seen as they are now, and which are folded. */
export function useViewed(bead: string) {
  const [seen, setSeen] = useStored<Record<string, string>>(`review.viewed.${bead}`, {});
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(() => new Map());
  const isViewed = useCallback((file: ReviewFile) => seen[file.path] === contentOf(file), [seen]);
  const fold = useCallback(
    (file: ReviewFile, isFolded: boolean) =>
      setFolds((now) => new Map(now).set(file.path, isFolded)),
    [],
  );
  const setViewed = useCallback(
    (file: ReviewFile, yes: boolean) => {
      const { [file.path]: _, ...others } = seen;
      setSeen(yes ? { ...others, [file.path]: contentOf(file) } : others);
      fold(file, yes);
    },
    [seen, setSeen, fold],
  );
  // Nobody reads a lock file, and what was read is out of the way.
  const isFolded = useCallback(
    (file: ReviewFile) => folds.get(file.path) ?? (file.generated || isViewed(file)),
    [folds, isViewed],
  );
  return { isViewed, setViewed, isFolded, fold };
}
