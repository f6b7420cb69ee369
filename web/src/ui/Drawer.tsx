import { type CSSProperties, type ReactNode, useId, useRef } from "react";
import { useAction } from "../actions/actions";
import { PANE_AFTER, PANE_BEFORE } from "../actions/common";
import { Button } from "./Button";
import styles from "./Drawer.module.css";
import { Icon } from "./Icon";
import { PaneBorder } from "./PaneBorder";
import { useModal } from "./useModal";
import { useStored } from "./useStored";

interface DrawerProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  /** Buttons that stay in sight below. */
  foot?: ReactNode;
}

/** A form beside the page; the browser keeps the focus inside, knows Escape and gives it back. */
export function Drawer({ title, onClose, children, foot }: DrawerProps) {
  const dialog = useModal();
  const id = useId();
  return (
    <dialog
      ref={dialog}
      className={styles.drawer}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => {
        // Who opened it decides: there may be something in it that is not saved.
        event.preventDefault();
        onClose();
      }}
    >
      <header className={styles.head}>
        <h2 id={id}>{title}</h2>
        <Button look="quiet" size="small" isIcon aria-label="Close" onClick={onClose}>
          <Icon name="cross" size={15} />
        </Button>
      </header>
      <div className={styles.body}>{children}</div>
      {foot && <footer className={styles.foot}>{foot}</footer>}
    </dialog>
  );
}

/** Goes to a part of the page, whether it takes the focus by itself or not. */
function focusOn(part: Element | null | undefined): void {
  if (!(part instanceof HTMLElement)) return;
  if (part.tabIndex < 0) part.tabIndex = -1;
  part.focus();
}

interface SidePanelProps {
  /** What is shown, for a screen reader. */
  label: string;
  head: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

/** As wide as a panel is until somebody moves its border. */
const WIDTH = 420;
const WIDTH_MOST = 900;

/**
 * A peek at one row beside the list, which stays usable. Close it with `BACK` bound by the page; its
 * border can be moved, and `[` and `]` go to the list and back.
 */
export function SidePanel({ label, head, onClose, children }: SidePanelProps) {
  const [width, setWidth] = useStored<number | undefined>("side.width", undefined);
  const box = useRef<HTMLElement>(null);
  useAction(PANE_BEFORE, () => focusOn(box.current?.previousElementSibling));
  useAction(PANE_AFTER, () => focusOn(box.current));
  return (
    <aside
      ref={box}
      className={styles.side}
      aria-label={label}
      tabIndex={-1}
      style={width === undefined ? undefined : ({ "--side-width": `${width}px` } as CSSProperties)}
    >
      <PaneBorder
        label="Width of the panel"
        className={styles.edge}
        width={width ?? WIDTH}
        most={WIDTH_MOST}
        sign={-1}
        onChange={setWidth}
      />
      <header className={styles.head}>
        <div className={styles.title}>{head}</div>
        <Button look="quiet" size="small" isIcon aria-label="Close the panel" onClick={onClose}>
          <Icon name="cross" size={15} />
        </Button>
      </header>
      <div className={styles.body}>{children}</div>
    </aside>
  );
}
