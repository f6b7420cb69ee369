import { useCallback, useEffect, useState } from "react";

/** One field of the address, so that a reload or a shared link shows the same view. */
export function useSearchParam(name: string): [string | undefined, (value?: string) => void] {
  const [value, setValue] = useState(() => read(name));
  useEffect(() => {
    const onMove = () => setValue(read(name));
    window.addEventListener("popstate", onMove);
    return () => window.removeEventListener("popstate", onMove);
  }, [name]);
  const change = useCallback(
    (next?: string) => {
      const url = new URL(window.location.href);
      if (next === undefined) url.searchParams.delete(name);
      else url.searchParams.set(name, next);
      window.history.replaceState(null, "", url);
      setValue(next);
    },
    [name],
  );
  return [value, change];
}

function read(name: string): string | undefined {
  return new URLSearchParams(window.location.search).get(name) ?? undefined;
}
