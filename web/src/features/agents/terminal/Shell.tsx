import {
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { useAction } from "../../../actions/actions";
import type { Agent } from "../../../api/types";
import { useHub } from "../../../realtime/live";
import { Guarded } from "../../../roles/Guarded";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Empty } from "../../../ui/Empty";
import { plural } from "../../../ui/format";
import { Icon } from "../../../ui/Icon";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Status } from "../../../ui/Status";
import { saveAs } from "../../../ui/saveAs";
import { CONTROL } from "../actions";
import { useForeignAgent } from "../useForeignAgent";
import { roomIn, ScreenView } from "./ScreenView";
import styles from "./Shell.module.css";
import { ShellSession, type Shown } from "./session";
import { TypeBox } from "./TypeBox";
import { takeControl, useTakeOver, whyNoShell } from "./takeOver";

/** What the view takes beside the screen: gutters, the bar, the command below. */
const AROUND = { width: 50, height: 130 };

interface ShellProps {
  agent: Agent;
  /** What stands first in the bar: the way to the log. */
  tools: React.ReactNode;
}

/** The shell in the sandbox of an agent: to look at, and to type into by who has control. */
export function Shell({ agent, tools }: ShellProps) {
  const root = useRef<HTMLDivElement>(null);
  const session = useSession(agent, root);
  const shown = useSyncExternalStore(session.subscribe, () => session.shown);
  const { link } = shown;
  useTakeOver(agent, session, shown);
  const hasScreen = shown.offset > 0 || link.phase === "open" || link.phase === "waiting";
  return (
    <div ref={root} className={styles.shell}>
      <div className={styles.bar}>
        {tools}
        <Standing shown={shown} />
        {hasScreen && <Acts agent={agent} session={session} shown={shown} />}
      </div>
      {(link.phase === "over" || link.phase === "none") && hasScreen && (
        <div className={styles.over} role="status">
          {link.why}
          <OpenButton agent={agent} session={session} text="Open a new shell" />
        </div>
      )}
      {shown.refused !== undefined && (
        <p className={styles.refused} role="alert">
          {shown.refused}
        </p>
      )}
      <Body agent={agent} session={session} shown={shown} hasScreen={hasScreen} />
      {hasScreen && <Cli command={cliOf(agent, shown)} />}
    </div>
  );
}

/** Connects while the view is open, and again when somebody opens a shell. */
function useSession(agent: Agent, root: RefObject<HTMLElement | null>): ShellSession {
  const [session] = useState(() => new ShellSession(agent));
  const hub = useHub();
  // What was shown before comes at once, and lines are broken by the width that is known then.
  useLayoutEffect(() => {
    const { clientWidth = 0, clientHeight = 0 } = root.current ?? {};
    const { columns, rows } = roomIn(clientWidth - AROUND.width, clientHeight - AROUND.height);
    if (clientWidth > 0) session.fit(columns, rows);
  }, [session, root]);
  useEffect(() => {
    session.socket.start();
    return () => session.socket.stop();
  }, [session]);
  useEffect(
    () =>
      hub.read((told) => {
        if (told.type !== "events" || session.shown.link.phase !== "none") return;
        const isOpened = told.events.some(
          ({ type, metadata }) => type === "agent:terminal" && metadata.agentId === agent.id,
        );
        if (isOpened) session.socket.start();
      }),
    [hub, session, agent.id],
  );
  return session;
}

interface PartProps {
  agent: Agent;
  session: ShellSession;
  shown: Shown;
}

function Body({ agent, session, shown, hasScreen }: PartProps & { hasScreen: boolean }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { hasControl, link } = shown;
  // Who has just got control wants to type.
  useEffect(() => {
    if (hasControl) field.current?.focus({ preventScroll: true });
  }, [hasControl]);
  if (!hasScreen) {
    if (link.phase === "connecting") return <SkeletonRows />;
    return (
      <Empty
        icon="terminal"
        why={link.phase === "none" || link.phase === "over" ? link.why : ""}
        action={<OpenButton agent={agent} session={session} text="Open a shell" />}
        cli={`godel agent attach ${agent.label} --terminal`}
      />
    );
  }
  const leave = () =>
    document.querySelector<HTMLElement>("[data-control-button]")?.focus({ preventScroll: true });
  return (
    <>
      <ScreenView
        screen={shown.screen}
        label={`Shell of ${agent.label}`}
        hasControl={hasControl}
        onSize={(columns, rows) => session.fit(columns, rows)}
        onPress={() => field.current?.focus({ preventScroll: true })}
      >
        {hasControl && (
          <TypeBox
            session={session}
            label={`Type into the shell of ${agent.label}`}
            field={field}
            onLeave={leave}
          />
        )}
      </ScreenView>
      {hasControl && (
        <p className={styles.note}>
          Keys go to the shell. <kbd>Ctrl+]</kbd> leaves it, <kbd>Ctrl+Shift+C</kbd> copies.
        </p>
      )}
    </>
  );
}

function OpenButton({ agent, session, text }: Omit<PartProps, "shown"> & { text: string }) {
  const foreign = useForeignAgent()(agent);
  return (
    <Guarded
      size="small"
      can={CONTROL.can}
      refused={foreign ?? whyNoShell(agent)}
      cli={`godel agent attach ${agent.label} --terminal`}
      onClick={() => session.socket.openShell()}
    >
      <Icon name="terminal" size={14} />
      {text}
    </Guarded>
  );
}

/** Whether the connection stands, and who has control. */
function Standing({ shown: { link, hasControl, holder } }: { shown: Shown }) {
  return (
    <span className={styles.standing} role="status">
      {link.phase === "connecting" && (
        <Status tone="plain" icon="refresh">
          Connecting
        </Status>
      )}
      {link.phase === "waiting" && (
        <Status tone="warn" icon="alert">
          Reconnecting
        </Status>
      )}
      {link.phase === "open" && hasControl && (
        <Status tone="ok" icon="edit">
          You have control
        </Status>
      )}
      {link.phase === "open" && !hasControl && (
        <Status tone="plain" icon="eye">
          {holder ? `${holder.name} has control, you watch` : "Nobody has control, you watch"}
        </Status>
      )}
    </span>
  );
}

function Acts({ agent, session, shown }: PartProps) {
  const { link, hasControl, mayControl, offset } = shown;
  const foreign = useForeignAgent()(agent);
  const refused = foreign ?? whyNoControl(agent, link.phase === "open", mayControl);
  const toggle = async () => {
    if (hasControl) session.socket.release();
    else await takeControl(agent, session);
  };
  const title = hasControl ? "Release control" : "Take control";
  const cli = hasControl ? undefined : `godel agent attach ${agent.label} --terminal --take`;
  useAction(CONTROL, toggle, { title, cli, disabled: refused });
  return (
    <>
      <span className={styles.bytes} data-bytes={offset}>
        {plural(offset, "byte")}
      </span>
      {link.phase === "waiting" && (
        <Button size="small" onClick={() => session.socket.retryNow()}>
          Retry now
        </Button>
      )}
      <Button
        size="small"
        look="quiet"
        onClick={() => saveAs(`${agent.label}.terminal`, session.raw())}
      >
        <Icon name="down" size={14} />
        Raw
      </Button>
      <Guarded
        size="small"
        look={hasControl ? "line" : "solid"}
        align="end"
        can={CONTROL.can}
        refused={refused}
        cli={cli}
        onClick={toggle}
        data-control-button=""
      >
        <Icon name={hasControl ? "eye" : "edit"} size={14} />
        {title}
      </Guarded>
    </>
  );
}

function whyNoControl({ label }: Agent, isOpen: boolean, mayControl: boolean): string | undefined {
  if (!isOpen) return "There is no shell to control now.";
  return mayControl ? undefined : `You may look at ${label}, but not lead it.`;
}

function cliOf({ label }: Agent, { hasControl }: Shown): string {
  return `godel agent attach ${label} --terminal${hasControl ? "" : " --watch"}`;
}
