import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef } from "react";
import { useAction } from "../../actions/actions";
import type { Notice } from "../../api/types";
import type { PageProps } from "../../pages";
import { useRefusal } from "../../roles/session";
import { navigate, useChoice, useParam } from "../../router/router";
import { Boundary } from "../../ui/Boundary";
import { Empty, EmptyFilter } from "../../ui/Empty";
import { plural } from "../../ui/format";
import { LinkButton } from "../../ui/LinkButton";
import { Loaded } from "../../ui/Loaded";
import { NewRows } from "../../ui/NewRows";
import { PageHead, Select } from "../../ui/PageHead";
import { SkeletonCards } from "../../ui/Skeleton";
import { PartialBadge } from "../../ui/Status";
import { Segmented } from "../../ui/Tabs";
import { useCalmRows } from "../../ui/table/useCalmRows";
import { INBOX } from "./actions";
import { DesktopSwitch } from "./desktop";
import styles from "./InboxPage.module.css";
import {
  canRestart,
  countKinds,
  isAsking,
  kindOf,
  noOf,
  placeOf,
  rightFor,
  whose,
  yesOf,
} from "./kinds";
import { cliOf } from "./NoticeCard";
import { NoticeList } from "./NoticeList";
import { inboxQuery, useAnswer, useRestart } from "./queries";
import { useChosen } from "./useChosen";
import { useForeignNotice } from "./useForeignNotice";

const SHOWN = ["open", "all"] as const;

/** Everything that waits for a person, and the way to answer it. */
export function Page(_: PageProps) {
  const [shown, setShown] = useChoice("show", SHOWN, "open");
  const [kind = "", setKind] = useParam("kind");
  const query = useQuery(inboxQuery(shown));
  const notices = query.data?.items ?? [];
  const wanted = kind === "" ? notices : notices.filter((notice) => notice.kind === kind);
  const open = notices.filter((notice) => notice.state === "open").length;
  return (
    <>
      <PageHead
        title="Inbox"
        note={
          query.data && (
            <>
              {plural(open, "thing")} waiting for you{" "}
              {query.data.isCut && (
                <PartialBadge kind="limited" why={`Only the newest ${notices.length}`} />
              )}
            </>
          )
        }
        tools={
          <Select
            label="Kind"
            value={kind}
            onChange={setKind}
            options={countKinds(notices).map(([id, title, many]) => [id, `${title} (${many})`])}
          />
        }
        acts={
          <>
            <DesktopSwitch />
            <Segmented
              label="Show"
              options={[
                { id: "open", title: "Open" },
                { id: "all", title: "All" },
              ]}
              value={shown}
              onChange={setShown}
            />
          </>
        }
      />
      <Boundary what="The inbox">
        <Loaded query={query} what="The inbox" skeleton={<Bones />}>
          {() => {
            if (wanted.length > 0) return <Notices key={shown} notices={wanted} />;
            if (kind !== "") return <EmptyFilter what="notices" onClear={() => setKind("")} />;
            return <Nothing />;
          }}
        </Loaded>
      </Boundary>
    </>
  );
}

const keyOf = (notice: Notice) => notice.id;
/** What was answered leaves at once, even while the list keeps still. */
const isTaken = () => true;

function Notices({ notices }: { notices: readonly Notice[] }) {
  const box = useRef<HTMLDivElement>(null);
  const write = useRef<HTMLTextAreaElement>(null);
  const { calm, list } = useCalmRows({ box, rows: notices, keyOf, isTaken, onOpen: openMore });
  const { rows } = calm;
  const here = useChosen(rows, list);
  useAnswerKeys(here?.state === "open" ? here : undefined, () => write.current?.focus());
  useWanted(notices, (id) => {
    calm.show();
    list.setCursor(id);
  });
  return (
    <div ref={box} className={styles.box}>
      <NewRows waiting={calm.waiting} noun="notice" onShow={calm.show} />
      <NoticeList notices={rows} here={here} write={write} />
      <p className={styles.help}>
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>y</kbd> yes, <kbd>n</kbd> no, <kbd>Enter</kbd> opens
        what it is about. Where nothing says yes or no, <kbd>y</kbd> goes to the answer box and{" "}
        <kbd>n</kbd> answers nothing.
      </p>
    </div>
  );
}

/** After how many frames a card that is to be there is there. */
const DRAWN_WITHIN_FRAMES = 30;

/** A notice that the address names, as a notice of the desktop does: its answer box gets the focus, once. */
function useWanted(notices: readonly Notice[], onFound: (id: string) => void): void {
  const [wanted, setWanted] = useParam("notice");
  const isThere = notices.some(({ id }) => id === wanted);
  const find = useEffectEvent(onFound);
  useEffect(() => {
    if (wanted === undefined || !isThere) return;
    find(wanted);
    // It may have waited behind those that are shown, and is drawn a moment later.
    const look = (framesLeft: number) => {
      const card = document.querySelector(`[data-notice="${CSS.escape(wanted)}"]`);
      if (!card && framesLeft > 0) {
        frame = requestAnimationFrame(() => look(framesLeft - 1));
        return;
      }
      // Where one may write, that is where to be: Enter on a choice would already be the answer.
      const box = card?.querySelector<HTMLElement>("textarea");
      (box ?? card?.querySelector<HTMLElement>("button:not([aria-disabled])"))?.focus();
      setWanted(undefined);
    };
    let frame = requestAnimationFrame(() => look(DRAWN_WITHIN_FRAMES));
    return () => cancelAnimationFrame(frame);
  }, [wanted, isThere, setWanted]);
}

function openMore(notice: Notice): void {
  const place = placeOf(notice);
  if (place) navigate(place);
}

function useAnswerKeys(here: Notice | undefined, write: () => void): void {
  const answer = useAnswer();
  const restart = useRestart();
  const yes = here && yesOf(here);
  const no = here && noOf(here);
  const whom = (here && whose(here)) ?? "it";
  const foreign = useForeignNotice();
  const denied = useRefusal(here && rightFor(here)) ?? (here && foreign(here));
  const isOnlyOpened = here && !canRestart(here) && yes === undefined && !isAsking(here);
  useAction(
    INBOX.yes,
    () => {
      if (!here) return;
      if (canRestart(here)) restart.mutate(here);
      else if (yes !== undefined) answer.mutate({ notice: here, answer: yes });
      else if (isAsking(here)) write();
      else openMore(here);
    },
    {
      when: here !== undefined,
      disabled: isOnlyOpened ? undefined : denied,
      ...yesWords(here, yes),
    },
  );
  useAction(
    INBOX.no,
    () => here && answer.mutate(no === undefined ? { notice: here } : { notice: here, answer: no }),
    {
      when: here !== undefined,
      disabled: denied,
      title:
        here && (no === undefined ? `${kindOf(here).aside}: ${whom}` : `Answer ${whom}: ${no}`),
      cli: here && (no === undefined ? `godel inbox decline ${here.id}` : cliOf(here, no)),
    },
  );
}

/** What `y` does, and the same on the command line. */
function yesWords(here: Notice | undefined, yes: string | undefined) {
  if (!here) return {};
  const whom = whose(here) ?? "it";
  if (canRestart(here)) return { title: `Restart ${whom}`, cli: `godel agent restart ${whom}` };
  if (yes === undefined && !isAsking(here)) return { title: `Open what it is about` };
  if (yes === undefined) return { title: `Write an answer to ${whom}` };
  return { title: `Answer ${whom}: ${yes}`, cli: cliOf(here, yes) };
}

function Bones() {
  return (
    <div className={styles.box}>
      <SkeletonCards cards={3} height={120} isStack />
    </div>
  );
}

function Nothing() {
  return (
    <Empty
      icon="inbox"
      why="Nothing waits for you. Questions and failures of agents, approvals, budgets and dead letters come here."
      action={<LinkButton to="/agents">See what the agents do</LinkButton>}
      cli="godel inbox"
    />
  );
}
