import { Link } from "../../router/Link";
import { DesktopSwitch } from "../inbox/desktop";
import { Line, Lines, Section } from "./Section";

/** How a person hears that something needs them. */
export function NotificationsSection() {
  return (
    <Section title="Notifications" lead="How you hear that something needs you.">
      <Lines label="Notifications">
        <Line
          id="inbox"
          title="Inbox"
          note="Questions, budgets that are spent and agents that cannot go on are there until they are answered; the bell counts them."
          state={<Link to="/inbox">Open the inbox</Link>}
        />
        <Line
          id="desktop"
          title="Desktop"
          note="Once per incident, while this page is open and you look elsewhere. It counts for this browser."
          state={typeof Notification === "undefined" ? "This browser has none." : <DesktopSwitch />}
        />
      </Lines>
    </Section>
  );
}
