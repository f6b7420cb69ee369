import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { View } from "../../api/types";
import { confirm } from "../../change/confirm";
import { setParams, useParam, useParams } from "../../router/router";
import { plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { Menu, type MenuItem } from "../../ui/Menu";
import {
  type BuiltIn,
  deleteCli,
  type Fields,
  normal,
  OPENED,
  paramsOf,
  queryOf,
  saveCli,
} from "./address";
import { nameOf, useBrowserViews } from "./browserViews";
import { useForgetView, useUpdateView, viewsQuery } from "./queries";
import { ViewDialog } from "./ViewDialog";
import styles from "./ViewMenu.module.css";

interface ViewMenuProps {
  /** The page whose views they are, such as `beads`. */
  page: string;
  fields: Fields;
  builtIn: readonly BuiltIn[];
}

/** What people look at again and again, by name: built in, one's own and those that all share. */
export function ViewMenu({ page, fields, builtIn }: ViewMenuProps) {
  const [asking, setAsking] = useState<"save" | "rename">();
  const { data } = useQuery(viewsQuery);
  const kept = (data?.items ?? []).filter((view) => view.page === page);
  const present = queryOf(useParams(), fields);
  const { opened, isChanged } = useOpened(kept, present, fields);
  const browser = useBrowserViews(page, fields, kept);
  const acts = useActs({ page, present, opened, isChanged, onAsk: setAsking });
  const same = builtIn.find(([, query]) => normal(query, fields) === present);
  const line = (title: string, query: string, view?: View): MenuItem => ({
    id: `view ${view?.id ?? `${title} ${query}`}`,
    title,
    isChosen: view ? view === opened && !isChanged : !opened && normal(query, fields) === present,
    run: () => setParams(paramsOf(query, fields, view?.id), { replace: false }),
  });
  const items: MenuItem[] = [
    ...inGroup(
      "Built in",
      builtIn.map(([title, query]) => line(title, query)),
    ),
    ...GROUPS.flatMap(([group, isIn]) =>
      inGroup(
        group,
        kept.filter(isIn).map((view) => line(view.name, view.query, view)),
      ),
    ),
    ...inGroup(
      "Only in this browser",
      browser.views.map((view) => line(nameOf(view), new URLSearchParams(view).toString())),
    ),
    ...inGroup("", [
      ...(same && !opened ? acts.map(refuseSame) : acts),
      ...(browser.views.length > 0 ? [moveLine(browser.views.length, browser.move)] : []),
    ]),
  ];
  const title = opened ? `${opened.name}${isChanged ? " (changed)" : ""}` : same?.[0];
  return (
    <>
      <Menu
        label={title === undefined ? "Views" : `Views: ${title}`}
        look="line"
        align="left"
        button={
          <>
            <span className={styles.name}>{title ?? "Views"}</span>
            <Icon name="down" size={13} />
          </>
        }
        items={items}
      />
      {asking && (
        <ViewDialog
          page={page}
          query={asking === "rename" && opened ? opened.query : present}
          view={asking === "rename" ? opened : undefined}
          onDone={(view) => setParams({ [OPENED]: view.id })}
          onClose={() => setAsking(undefined)}
        />
      )}
    </>
  );
}

const GROUPS: readonly (readonly [string, (view: View) => boolean])[] = [
  ["Yours", ({ isOwn, shared }) => isOwn && !shared],
  ["Yours, shared with everybody", ({ isOwn, shared }) => isOwn && shared],
  ["Shared by others", ({ isOwn }) => !isOwn],
];

const inGroup = (group: string, lines: readonly MenuItem[]) =>
  lines.map((item) => ({ ...item, group }));

/** The kept view that is on the page: what was opened by name, or what looks just so. */
function useOpened(kept: readonly View[], present: string, fields: Fields) {
  const [id] = useParam(OPENED);
  const isSame = (view: View) => normal(view.query, fields) === present;
  const opened = kept.find((view) => view.id === id) ?? kept.find(isSame);
  return { opened, isChanged: opened !== undefined && !isSame(opened) };
}

interface ActsProps {
  page: string;
  present: string;
  opened: View | undefined;
  isChanged: boolean;
  onAsk: (what: "save" | "rename") => void;
}

/** What can be done with what is on the page. */
function useActs({ page, present, opened, isChanged, onAsk }: ActsProps): MenuItem[] {
  const update = useUpdateView();
  const forgetOwn = useForgetView({ isOwn: true });
  const forgetShared = useForgetView({ isOwn: false });
  const cli = (name: string, shared: boolean) => saveCli(page, { name, query: present, shared });
  const save: MenuItem = {
    id: "save",
    title: "Save this view…",
    icon: "plus",
    cli: cli("", false),
    refused: opened && !isChanged ? `It is kept as “${opened.name}”.` : undefined,
    run: () => onAsk("save"),
  };
  if (!opened) return [save];
  const { name, shared, isOwn } = opened;
  const forget = async () => {
    const leave = () => setParams({ [OPENED]: undefined });
    if (isOwn) {
      leave();
      return forgetOwn.mutate(opened);
    }
    const body = "Nobody has it any more, not even who made it.";
    const question = { title: `Forget “${name}”?`, body, act: "Forget it", cli: deleteCli(opened) };
    if (!(await confirm(question))) return;
    leave();
    forgetShared.mutate(opened);
  };
  const forgetLine: MenuItem = {
    id: "forget",
    title: `Forget “${name}”`,
    icon: "trash",
    destructive: true,
    can: isOwn ? undefined : "user:update:team",
    cli: deleteCli(opened),
    run: forget,
  };
  if (!isOwn) return [save, forgetLine];
  return [
    save,
    {
      id: "update",
      title: `Update “${name}”`,
      icon: "refresh",
      cli: cli(name, shared),
      refused: isChanged ? undefined : "It shows just this.",
      run: () => update.mutate({ view: opened, query: present }),
    },
    { id: "rename", title: "Rename or share…", icon: "edit", run: () => onAsk("rename") },
    forgetLine,
  ];
}

const refuseSame = (item: MenuItem): MenuItem => ({ ...item, refused: "It is one of these." });

function moveLine(howMany: number, move: () => void): MenuItem {
  return {
    id: "move",
    title: `Move ${plural(howMany, "view")} of this browser to the server`,
    icon: "up",
    run: move,
  };
}
