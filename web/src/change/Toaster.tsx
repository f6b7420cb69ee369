import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { Button } from "../ui/Button";
import { classes } from "../ui/classes";
import { Icon } from "../ui/Icon";
import styles from "./Toaster.module.css";
import { dismiss, showToastsIn, type Toast, useToastHome, useToasts } from "./toasts";

/** Shows the messages in a corner; those under the pointer or the focus stay. */
export function Toaster() {
  const toasts = useToasts();
  const home = useToastHome();
  const messages = (
    <section className={styles.toaster} aria-label="Messages">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  );
  return home ? createPortal(messages, home) : messages;
}

/** In a drawer that stays open: behind it nothing can be pressed, so the messages come into it. */
export function ToastsHere() {
  return <div ref={showToastsIn} />;
}

function ToastCard({ toast }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  const { id, tone, title, detail, action, ms } = toast;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => dismiss(id), ms);
    return () => clearTimeout(timer);
  }, [id, ms, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only waits while somebody reads it
    <div
      className={classes(styles.toast, tone === "bad" && styles.bad)}
      role={tone === "bad" ? "alert" : "status"}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={tone === "bad" ? "alert" : "check"} size={16} />
      <div className={styles.text}>
        <p className={styles.title}>{title}</p>
        {detail && <p className={styles.detail}>{detail}</p>}
      </div>
      {action && (
        <Button
          size="small"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <Button
        look="quiet"
        size="small"
        isIcon
        aria-label="Dismiss the message"
        onClick={() => dismiss(id)}
      >
        <Icon name="cross" size={13} />
      </Button>
    </div>
  );
}
