import { Link } from "../../router/Link";
import { count, plural } from "../../ui/format";
import { Icon } from "../../ui/Icon";
import { useDesktopNotices } from "./desktop";
import styles from "./InboxBell.module.css";
import { useInboxCount } from "./queries";

/** How many things wait for a person, in sight on every page. */
export function InboxBell() {
  useDesktopNotices();
  const waiting = useInboxCount();
  return (
    <Link
      to="/inbox"
      className={styles.bell}
      // What is not known yet is not nothing.
      aria-label={waiting === undefined ? "Inbox" : `Inbox: ${plural(waiting, "thing")} waiting`}
    >
      <Icon name="bell" size={16} />
      {waiting !== undefined && waiting > 0 && (
        <span className={styles.count}>{count(waiting)}</span>
      )}
    </Link>
  );
}
