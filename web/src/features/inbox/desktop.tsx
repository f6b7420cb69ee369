import { useEffect, useEffectEvent } from "react";
import type { GodelEvent } from "../../api/types";
import { useHub } from "../../realtime/live";
import { navigate } from "../../router/router";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { useStored } from "../../ui/useStored";
import { kindOf } from "./kinds";

const STORED = "inbox.desktop";
const ASKED = "agent:needs:person";
/** What else waits for a person, and as which kind of notice. */
const ALERTS: Record<string, string> = {
  "workflow:approval:asked": "approval",
  "budget:warning": "budget",
  "budget:exceeded": "budget",
  "pool:alert": "dead_letters",
};

/** Turns notices of the desktop on and off; the browser asks the person first. */
export function DesktopSwitch() {
  const [isOn, setOn] = useStored(STORED, false);
  if (typeof Notification === "undefined") return null;
  const isDenied = Notification.permission === "denied";
  const toggle = async () => {
    if (isOn) return setOn(false);
    setOn((await Notification.requestPermission()) === "granted");
  };
  return (
    <Button
      look="quiet"
      size="small"
      aria-pressed={isOn && !isDenied}
      title={isDenied ? "The browser does not allow notices from this page" : undefined}
      disabled={isDenied}
      onClick={toggle}
    >
      <Icon name="bell" size={15} />
      Desktop notices {isOn && !isDenied ? "on" : "off"}
    </Button>
  );
}

/** What a notice of the desktop says about an event, if it is worth one. */
export function noticeOf(event: Pick<GodelEvent, "type" | "payload">) {
  const alert = ALERTS[event.type];
  if (alert) return alertOf(alert, event.payload as Record<string, unknown>);
  if (event.type !== ASKED) return undefined;
  const { notice, kind, text } = event.payload as Record<string, unknown>;
  if (typeof notice !== "string") return undefined;
  const { title } = kindOf({ kind: String(kind ?? "") });
  return { tag: notice, title: `Godel: ${title.toLowerCase()}`, body: String(text ?? "") };
}

/** An alert of a budget replaces the one before it: both are one incident. */
function alertOf(kind: string, payload: Record<string, unknown>) {
  const { run, step, workflow, message, budget, scope, pool } = payload;
  const tag = [kind, run, step, budget, pool].filter(Boolean).join("/");
  const body = message ?? workflow ?? scope ?? `pool ${pool}`;
  return { tag, title: `Godel: ${kindOf({ kind }).title.toLowerCase()}`, body: String(body) };
}

/** Tells the desktop what waits, once per incident, if the person wants that. */
export function useDesktopNotices(): void {
  const hub = useHub();
  const tell = useEffectEvent((events: readonly GodelEvent[]) => {
    if (!isWanted()) return;
    for (const event of events) {
      const told = noticeOf(event);
      if (!told) continue;
      // The tag makes a second notice about the same incident replace the first.
      const shown = new Notification(told.title, { body: told.body, tag: told.tag });
      shown.onclick = () => {
        window.focus();
        navigate("/inbox");
      };
    }
  });
  useEffect(() => hub.read((told) => told.type === "events" && tell(told.events)), [hub]);
}

function isWanted(): boolean {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return false;
  try {
    return localStorage.getItem(`godel.${STORED}`) === "true" && !document.hasFocus();
  } catch {
    return false;
  }
}
