import type { ComponentProps } from "react";
import { Button } from "../ui/Button";
import { Hint } from "../ui/Hint";
import type { Need } from "./permissions";
import { useRefusal } from "./session";

interface GuardedProps extends ComponentProps<typeof Button> {
  /** What one must be allowed. */
  can?: Need | undefined;
  /** It cannot be taken back, so it waits while the connection is lost. */
  destructive?: boolean | undefined;
  /** Another reason why it cannot be done now, as a sentence. */
  refused?: string | undefined;
  /** The same on the command line, told in the hint. */
  cli?: string | undefined;
  /** On which side there is room for the hint. */
  side?: "below" | "above";
  /** At the right edge of a page the hint ends with the button. */
  align?: "middle" | "end" | undefined;
}

/**
 * A button that is always there. If it cannot be pressed it says why, before the click; it keeps
 * the focus, so that a keyboard and a screen reader find the reason as well.
 */
export function Guarded({
  can,
  destructive = false,
  refused,
  cli,
  side = "below",
  align,
  onClick,
  ...rest
}: GuardedProps) {
  const denied = useRefusal(can, { destructive });
  const why = denied ?? refused;
  return (
    <Hint side={side} align={align} text={why ?? (cli && <code>{cli}</code>)}>
      {(describedBy) => (
        <Button
          {...rest}
          aria-disabled={why !== undefined || undefined}
          aria-describedby={describedBy}
          onClick={(event) => (why === undefined ? onClick?.(event) : event.preventDefault())}
        />
      )}
    </Hint>
  );
}
