import { useState } from "react";
import type { Convoy } from "../../api/types";
import { confirm } from "../../change/confirm";
import { Menu } from "../../ui/Menu";
import { EditConvoy } from "./EditConvoy";
import { useArchiveConvoy, useDeleteConvoy } from "./queries";
import { MAY_CHANGE_CONVOY, useForeignConvoy } from "./useConvoyItems";

/** What is rarely done with a convoy: another name, away with it for now, or for good. */
export function ConvoyMenu({ convoy }: { convoy: Convoy }) {
  const archive = useArchiveConvoy(convoy);
  const erase = useDeleteConvoy(convoy);
  const [isEditing, setEditing] = useState(false);
  const foreign = useForeignConvoy()(convoy);
  const isArchived = convoy.status === "archived";
  const askAndDelete = async () => {
    const isSure = await confirm({
      title: `Delete ${convoy.name}?`,
      body: "The convoy goes away; its beads stay as they are.",
      word: convoy.name,
      act: "Delete the convoy",
      cli: `godel convoy delete ${convoy.id}`,
    });
    if (isSure) erase.mutate();
  };
  return (
    <>
      <Menu
        label={`Do something with ${convoy.name}`}
        size="small"
        items={[
          {
            id: "edit",
            title: "Rename or describe…",
            icon: "edit",
            can: MAY_CHANGE_CONVOY,
            refused: foreign,
            cli: `godel convoy update ${convoy.id} --name "..."`,
            run: () => setEditing(true),
          },
          {
            id: "archive",
            title: isArchived ? "Bring back" : "Archive",
            icon: "archive",
            can: MAY_CHANGE_CONVOY,
            refused: foreign,
            cli: `godel convoy archive ${convoy.id}${isArchived ? " --undo" : ""}`,
            run: () => archive.mutate(!isArchived),
          },
          {
            id: "delete",
            title: "Delete…",
            icon: "trash",
            can: "convoy:delete:team",
            destructive: true,
            cli: `godel convoy delete ${convoy.id}`,
            run: askAndDelete,
          },
        ]}
      />
      {isEditing && <EditConvoy convoy={convoy} onClose={() => setEditing(false)} />}
    </>
  );
}
