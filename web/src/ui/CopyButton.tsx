import { useState } from "react";
import { Button } from "./Button";
import { copyText } from "./clipboard";
import { Icon } from "./Icon";

const CONFIRM_MS = 1_500;

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState<"copied" | "failed">();
  const copy = async () => {
    setOutcome((await copyText(text)) ? "copied" : "failed");
    setTimeout(() => setOutcome(undefined), CONFIRM_MS);
  };
  return (
    <Button look="quiet" onClick={copy} aria-live="polite">
      <Icon name={outcome === "copied" ? "check" : "copy"} size={15} />
      {outcome === "copied" ? "Copied" : outcome === "failed" ? "Could not copy" : label}
    </Button>
  );
}
