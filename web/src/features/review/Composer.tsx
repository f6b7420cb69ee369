import { type KeyboardEvent, useEffect, useId, useRef } from "react";
import { Guarded } from "../../roles/Guarded";
import { useRefusal } from "../../roles/session";
import { Button } from "../../ui/Button";
import { type Draft, returnDraft, useDraft } from "../../ui/useDraft";
import styles from "./Composer.module.css";

const CAN = "review:update:own";

interface ComposerProps {
  /** What the draft is kept under. */
  name: string;
  label: string;
  /** What the button says. */
  act: string;
  cli?: string;
  initial?: string;
  /** Code is written in its own letters. */
  isCode?: boolean;
  /** Whether an empty text may be sent, too. */
  canBeEmpty?: boolean;
  hasFocus?: boolean;
  /** Sends it; what was refused comes back into the field, and who sends it again takes the draft away. */
  onSend: (text: string, draft: Draft) => Promise<unknown>;
  onCancel?: () => void;
}

/** A text that somebody writes; the draft outlives a reload. `Ctrl+Enter` sends, `Esc` leaves. */
export function Composer(props: ComposerProps) {
  const { name, label, act, cli, initial = "", isCode = false, canBeEmpty = false } = props;
  const { hasFocus = true, onSend, onCancel } = props;
  const [text, setText, clear] = useDraft(`review.${name}`, initial);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => {
    if (hasFocus) field.current?.focus({ preventScroll: true });
  }, [hasFocus]);
  const isEmpty = !canBeEmpty && text.trim() === "";
  const refused = useRefusal(CAN) ?? (isEmpty ? "Write something first." : undefined);
  const send = () => {
    if (refused !== undefined) return;
    const draft = { name: `review.${name}`, text };
    clear();
    // Why it was refused is told by the change itself.
    onSend(text, draft).catch(() => returnDraft(draft));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      send();
    }
    if (event.key === "Escape" && onCancel) {
      event.preventDefault();
      onCancel();
    }
  };
  const rows = Math.min(24, Math.max(3, text.split("\n").length));
  return (
    <div className={styles.box}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <textarea
        ref={field}
        id={id}
        className={isCode ? styles.code : styles.text}
        rows={rows}
        value={text}
        spellCheck={!isCode}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className={styles.acts}>
        <Guarded size="small" look="solid" can={CAN} cli={cli} refused={refused} onClick={send}>
          {act}
        </Guarded>
        {onCancel && (
          <Button size="small" look="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </div>
  );
}
