import { type ReactNode, useId, useState } from "react";
import type { Need } from "../../roles/permissions";
import { useRefusal } from "../../roles/session";
import { Button } from "../Button";
import { Cli } from "../Cli";
import { Drawer } from "../Drawer";
import { ErrorNotice } from "../Notice";
import styles from "./FormDrawer.module.css";
import { useLeaveGuard } from "./form";

/** What a drawer needs to know of its form; `useForm` has all of it. */
interface FormState {
  submit: () => void;
  /** Forgets its draft. */
  discard?: () => void;
  isDirty: boolean;
  isSending: boolean;
}

interface FormDrawerProps {
  title: string;
  /** What the button says: "Set the budget". */
  act: string;
  onClose: () => void;
  form: FormState;
  /** What one must be allowed: the form may have been opened by its address. */
  can: Need;
  /** It cannot be taken back, so it waits while the connection is lost. */
  destructive?: boolean;
  /** Why it cannot be sent yet, as a sentence. */
  refused?: string | undefined;
  /** What the server said that belongs to no field. */
  error?: Error | undefined;
  /** The same on the command line. */
  cli?: string | undefined;
  children: ReactNode;
}

/** A form beside the page. It does not go away with something in it without asking. */
export function FormDrawer(props: FormDrawerProps) {
  const { onClose, form, can, destructive = false } = props;
  const { isDirty, isSending } = form;
  const refused = useRefusal(can, { destructive }) ?? props.refused;
  const [isAsking, setAsking] = useState(false);
  const id = useId();
  useLeaveGuard(isDirty);
  const discard = () => {
    form.discard?.();
    onClose();
  };
  const leave = () => (isDirty && !isAsking ? setAsking(true) : discard());
  return (
    <Drawer
      title={props.title}
      onClose={leave}
      foot={
        isAsking ? (
          <>
            <p className={styles.question} role="alert">
              What you wrote is not saved.
            </p>
            {/* Keys: a button that became the one that sends would send by the same click. */}
            <Button key="stay" onClick={() => setAsking(false)}>
              Go on writing
            </Button>
            <Button key="discard" look="bad" onClick={discard}>
              Discard
            </Button>
          </>
        ) : (
          <>
            <Button key="cancel" onClick={leave}>
              Cancel
            </Button>
            <Button
              key="send"
              look="solid"
              type="submit"
              form={id}
              disabled={refused !== undefined || isSending}
              title={refused}
            >
              {isSending ? "Saving" : props.act}
            </Button>
          </>
        )
      }
    >
      <form
        id={id}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (refused === undefined && !isSending) form.submit();
        }}
      >
        {props.children}
        {props.error && <ErrorNotice error={props.error} />}
        {props.cli && <Cli command={props.cli} />}
      </form>
    </Drawer>
  );
}
