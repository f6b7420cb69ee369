import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { tellRefusal } from "../../change/useChange";
import { Guarded } from "../../roles/Guarded";
import { count } from "../../ui/format";
import { saveAs } from "../../ui/saveAs";
import { type ActFilter, actsFile, exportCli, readActs } from "./auditExport";

/** Gives the reader all acts of a filter as a file, also those that the page does not show. */
export function ExportActs({ filter }: { filter: ActFilter }) {
  const [many, setMany] = useState(0);
  const isHere = useRef(false);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  const save = useMutation({
    mutationFn: (asked: ActFilter) => {
      setMany(0);
      const onPart = (here: number) => {
        if (isHere.current) setMany(here);
        return isHere.current;
      };
      return readActs(asked, { onPart });
    },
    onSuccess: (acts) => acts && saveAs("godel-audit.jsonl", actsFile(acts)),
    onError: (error, asked) => tellRefusal("Export the record", error, () => save.mutate(asked)),
  });
  return (
    <Guarded
      can="audit:read:team"
      cli={exportCli(filter)}
      onClick={() => save.mutate(filter)}
      refused={save.isPending ? `${count(many)} acts are read; more are on their way.` : undefined}
    >
      {save.isPending ? `Reading, ${count(many)}` : "Export"}
    </Guarded>
  );
}
