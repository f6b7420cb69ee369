import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { Need } from "../roles/permissions";
import { useRefusal } from "../roles/session";
import { Button } from "./Button";
import { classes } from "./classes";
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
  items: readonly MenuItem[];
}

/** A button with a list of things to do. */
export function Menu({ label, button, look = "quiet", size, align = "right", items }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  useDismiss(box, toggle, isOpen, () => setOpen(false));
  const close = () => {
    setOpen(false);
    toggle.current?.focus();
  };
  return (
    <div className={styles.box} ref={box}>
      <Button
        ref={toggle}
        look={look}
        size={size ?? "normal"}
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
      {isOpen && <MenuList label={label} align={align} items={items} onClose={close} />}
    </div>
  );
}

function MenuList({
  label,
  align,
  items,
  onClose,
}: Pick<MenuProps, "label" | "items"> & { align: "left" | "right"; onClose: () => void }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector<HTMLElement>("[role^='menuitem']")?.focus();
  }, []);
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
      className={classes(styles.list, align === "right" ? styles.right : styles.left)}
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {items.map((item) => (
        <MenuLine key={item.id} item={item} onClose={onClose} />
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
