import {
  Fragment,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import type { Need } from "../roles/permissions";
import { useRefusal } from "../roles/session";
import { Button } from "./Button";
import { copyText } from "./clipboard";
import { Icon, type IconName } from "./Icon";
import { KeyCaps } from "./KeyCaps";
import styles from "./Menu.module.css";
import { useDismiss } from "./useDismiss";

/** One line of a menu. */
export interface MenuItem {
  id: string;
  title: string;
  icon?: IconName | undefined;
  keys?: string | undefined;
  /** The same on the command line: shown below the title, with a button that copies it. */
  cli?: string | undefined;
  can?: Need | undefined;
  destructive?: boolean | undefined;
  /** Why it cannot be done now. */
  refused?: string | undefined;
  isChosen?: boolean | undefined;
  /** The head under which it stands; lines of a group follow each other, `""` is a group without a head. */
  group?: string | undefined;
  run: () => void;
}

interface MenuProps {
  /** What the button is called. */
  label: string;
  /** What is in the button; three dots unless given. */
  button?: ReactNode;
  look?: "line" | "quiet";
  size?: "normal" | "small";
  align?: "left" | "right";
  /** Of the button. */
  className?: string | undefined;
  /** Its lines; where there are many menus, a function that makes them when one is opened. */
  items: readonly MenuItem[] | (() => readonly MenuItem[]);
}

/** A button with a list of things to do. A table has hundreds of them, so a closed one is the button alone. */
export function Menu({
  label,
  button,
  look = "quiet",
  align = "right",
  items,
  ...rest
}: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const toggle = useRef<HTMLButtonElement>(null);
  return (
    <>
      <Button
        ref={toggle}
        look={look}
        size={rest.size ?? "normal"}
        className={rest.className}
        isIcon={button === undefined}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!isOpen);
        }}
      >
        {button ?? <Icon name="dots" size={16} />}
      </Button>
      {isOpen && <OpenMenu {...{ label, items, align, toggle }} onClose={() => setOpen(false)} />}
    </>
  );
}

interface OpenMenuProps extends Pick<MenuProps, "label" | "items"> {
  align: "left" | "right";
  toggle: RefObject<HTMLButtonElement | null>;
  onClose: () => void;
}

function OpenMenu({ label, items, align, toggle, onClose }: OpenMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  useDismiss(toggle, toggle, true, onClose, list);
  const close = () => {
    onClose();
    toggle.current?.focus();
  };
  return createPortal(
    <MenuList
      ref={list}
      label={label}
      items={typeof items === "function" ? items() : items}
      place={() => placeOf(toggle.current, align)}
      onClose={close}
    />,
    toggle.current?.closest("dialog") ?? document.body,
  );
}

interface Placement {
  top?: number;
  bottom?: number;
  left?: number;
  right?: number;
}

/** Below the button, or above it if there is more room; the edge that is aligned stays put. */
function placeOf(toggle: HTMLElement | null, align: "left" | "right"): Placement {
  const rect = toggle?.getBoundingClientRect();
  if (!rect) return {};
  const below = window.innerHeight - rect.bottom;
  return {
    ...(below > MIN_ROOM || below > rect.top
      ? { top: rect.bottom + GAP }
      : { bottom: window.innerHeight - rect.top + GAP }),
    ...(align === "right"
      ? { right: Math.max(GAP, document.documentElement.clientWidth - rect.right) }
      : { left: Math.max(GAP, rect.left) }),
  };
}

const GAP = 6;
/** A menu is seldom higher than this. */
const MIN_ROOM = 220;

interface MenuListProps extends Pick<MenuProps, "label"> {
  items: readonly MenuItem[];
  ref: RefObject<HTMLDivElement | null>;
  place: () => Placement;
  onClose: () => void;
}

/** The list lies over everything: a table that scrolls must not cut it off. */
function MenuList({ ref: list, label, items, place, onClose }: MenuListProps) {
  const [at] = useState(place);
  const close = useEffectEvent(onClose);
  // The end of a scroll that brought the button into view moves nothing any more.
  const closeIfMoved = useEffectEvent(() => {
    if (JSON.stringify(place()) !== JSON.stringify(at)) onClose();
  });
  useEffect(() => {
    list.current?.querySelector<HTMLElement>("[role^='menuitem']")?.focus({ preventScroll: true });
    const onScroll = (event: Event) => {
      if (event.target instanceof Node && !list.current?.contains(event.target)) closeIfMoved();
    };
    const onResize = () => close();
    document.addEventListener("scroll", onScroll, true);
    window.addEventListener("resize", onResize);
    return () => {
      document.removeEventListener("scroll", onScroll, true);
      window.removeEventListener("resize", onResize);
    };
  }, [list]);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    const all = [...(list.current?.querySelectorAll<HTMLElement>("[role^='menuitem']") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = {
      ArrowDown: all[(at + 1) % all.length],
      ArrowUp: all[(at - 1 + all.length) % all.length],
      Home: all[0],
      End: all.at(-1),
    }[event.key];
    if (event.key === "Escape") onClose();
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    <div
      ref={list}
      className={styles.list}
      style={at}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {items.map((item, at) => (
        <Fragment key={item.id}>
          {item.group !== undefined && item.group !== items[at - 1]?.group && (
            <p className={styles.head} role="presentation">
              {item.group}
            </p>
          )}
          <MenuLine item={item} onClose={onClose} />
        </Fragment>
      ))}
    </div>
  );
}

function MenuLine({ item, onClose }: { item: MenuItem; onClose: () => void }) {
  const { title, icon, keys, cli, isChosen, run } = item;
  const denied = useRefusal(item.can, { destructive: item.destructive ?? false });
  const why = denied ?? item.refused;
  const [isCopied, setCopied] = useState(false);
  return (
    <div className={styles.line} role="none">
      <button
        type="button"
        {...(isChosen === undefined
          ? { role: "menuitem" }
          : { role: "menuitemradio", "aria-checked": isChosen })}
        aria-disabled={why !== undefined || undefined}
        tabIndex={-1}
        className={styles.item}
        onClick={(event) => {
          event.stopPropagation();
          if (why !== undefined) return;
          onClose();
          run();
        }}
      >
        <span className={styles.sign}>
          {isChosen ? <Icon name="check" size={15} /> : icon && <Icon name={icon} size={15} />}
        </span>
        <span className={styles.text}>
          <span>{title}</span>
          {why !== undefined && <span className={styles.note}>{why}</span>}
          {cli && <code className={styles.note}>{cli}</code>}
        </span>
        {keys && <KeyCaps keys={keys} />}
      </button>
      {cli && (
        <Button
          look="quiet"
          size="small"
          isIcon
          role="menuitem"
          tabIndex={-1}
          aria-label={`Copy ${cli}`}
          onClick={async (event) => {
            event.stopPropagation();
            setCopied(await copyText(cli));
          }}
        >
          <Icon name={isCopied ? "check" : "copy"} size={14} />
        </Button>
      )}
    </div>
  );
}
