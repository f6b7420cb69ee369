import { useEffect, useRef } from "react";
import { PAGES, type Page } from "../pages";
import { useSession } from "../roles/session";
import { Link } from "../router/Link";
import { restOf } from "../router/match";
import { usePlace } from "../router/router";
import { classes } from "../ui/classes";
import { count } from "../ui/format";
import { Icon } from "../ui/Icon";
import { Logo } from "../ui/Logo";
import styles from "./SideNav.module.css";

/** The pages; on a narrow screen it lies over the page while it is open. */
export function SideNav({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const session = useSession();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    nav.current?.querySelector("a")?.focus();
    const onKey = (event: KeyboardEvent) => event.key === "Escape" && onClose();
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOpen, onClose]);
  return (
    <>
      <nav
        ref={nav}
        id="pages"
        className={classes(styles.nav, isOpen && styles.open)}
        aria-label="Pages"
      >
        <div className={styles.brand}>
          <Logo size={20} />
          <span className={styles.name}>Godel</span>
          <span className={styles.tenant}>{session.tenant.name}</span>
        </div>
        <ul className={styles.pages}>
          {PAGES.filter((page) => !page.isAside).map((page) => (
            <li key={page.id}>
              <NavLink page={page} onFollow={onClose} />
            </li>
          ))}
        </ul>
        <a href="/docs" className={styles.foot}>
          API reference
        </a>
      </nav>
      {isOpen && <div className={styles.veil} onPointerDown={onClose} />}
    </>
  );
}

function NavLink({ page, onFollow }: { page: Page; onFollow: () => void }) {
  const { path } = usePlace();
  const isHere = restOf(path, page.path) !== undefined;
  return (
    <Link
      to={page.path}
      className={styles.link}
      aria-current={isHere ? "page" : undefined}
      onClick={onFollow}
    >
      <Icon name={page.icon} size={16} />
      <span className={styles.title}>{page.title}</span>
      {page.useCount && <Waiting useCount={page.useCount} />}
    </Link>
  );
}

function Waiting({ useCount }: { useCount: () => number | undefined }) {
  const waiting = useCount();
  if (!waiting) return null;
  return (
    <span className={styles.count}>
      {count(waiting)}
      <span className="visually-hidden"> waiting</span>
    </span>
  );
}
