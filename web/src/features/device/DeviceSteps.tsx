import type { FormEvent, Ref } from "react";
import { Button } from "../../ui/Button";
import { CardPage } from "../../ui/CardPage";
import { Facts } from "../../ui/Facts";
import { TextField } from "../../ui/Field";
import styles from "./DevicePage.module.css";
import { offeredDeviceCode } from "./deviceLink";

export function CodeForm({ isBusy, onCode }: { isBusy: boolean; onCode: (code: string) => void }) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = new FormData(event.currentTarget).get("code");
    if (typeof code === "string" && code.trim() !== "" && !isBusy) onCode(code.trim());
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextField
        label="Code"
        name="code"
        className={styles.code}
        placeholder="XXXX-XXXX"
        autoComplete="off"
        autoCapitalize="characters"
        maxLength={40}
        required
        defaultValue={offeredDeviceCode()}
      />
      <Button look="solid" type="submit" className={styles.wide} disabled={isBusy}>
        Continue
      </Button>
    </form>
  );
}

interface QuestionProps {
  code: string;
  program: string;
  isBusy: boolean;
  onAnswer: (approve: boolean) => void;
  onRestart: () => void;
}

/** Somebody may have sent the link to trick its reader, so the page says what to look at. */
export function Question({ code, program, isBusy, onAnswer, onRestart }: QuestionProps) {
  return (
    <>
      <div className={styles.program}>
        <Facts
          facts={[
            ["Program", program],
            ["Code", asShown(code)],
          ]}
        />
      </div>
      <p className={styles.warning}>
        It gets a key and can do what you can do. Approve only if you started it yourself and it
        shows this code.
      </p>
      <div className={styles.acts}>
        <Button look="solid" disabled={isBusy} onClick={() => onAnswer(true)}>
          Approve
        </Button>
        <Button disabled={isBusy} onClick={() => onAnswer(false)}>
          Refuse
        </Button>
      </div>
      <Button look="quiet" onClick={onRestart}>
        Enter another code
      </Button>
    </>
  );
}

interface EndProps {
  program: string;
  isIn: boolean;
  titleRef: Ref<HTMLHeadingElement>;
  onRestart: () => void;
}

export function End({ program, isIn, titleRef, onRestart }: EndProps) {
  return (
    <CardPage
      title={isIn ? "Approved" : "Refused"}
      titleRef={titleRef}
      links={<a href="/dashboard/">Dashboard</a>}
    >
      <p role="status" className={styles.result}>
        <bdi className={styles.name}>{program}</bdi>
        {isIn
          ? " is let in. It goes on by itself in a few seconds; you can close this page."
          : " is not let in. It gets no key."}
      </p>
      <Button onClick={onRestart}>Enter another code</Button>
    </CardPage>
  );
}

/** `BCDF-GHJK`, whatever was typed between the letters. */
function asShown(code: string): string {
  const letters = code.replace(/[^a-z0-9]/gi, "").toUpperCase();
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
