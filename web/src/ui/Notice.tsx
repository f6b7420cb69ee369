import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { waiting } from "./format";
import { Icon } from "./Icon";
import styles from "./Notice.module.css";
import { Sentence } from "./Sentence";

/** A boxed message; `bad` interrupts a screen reader, `plain` waits its turn. */
export function Notice({ tone, children }: { tone: "bad" | "plain"; children: ReactNode }) {
  return (
    <div className={`${styles.notice} ${styles[tone]}`} role={tone === "bad" ? "alert" : "status"}>
      {tone === "bad" && <Icon name="alert" size={17} />}
      <div>{children}</div>
    </div>
  );
}

/** What failed, what to do about it, and the id to look for in the log. */
export function ErrorNotice({ error }: { error: Error }) {
  const { requestId } = error instanceof ApiError ? error : { requestId: undefined };
  const hint = error instanceof ApiError ? hintOf(error) : undefined;
  return (
    <Notice tone="bad">
      <p className={styles.message}>
        <Sentence text={error.message} />
      </p>
      {hint && (
        <p>
          <Sentence text={hint} />
        </p>
      )}
      {requestId && <p className={styles.request}>Request {requestId}</p>}
    </Notice>
  );
}

/** When to try again is worth more than the advice to wait. */
function hintOf({ hint, retryAfterSeconds }: ApiError): string | undefined {
  return retryAfterSeconds === undefined ? hint : `try again in ${waiting(retryAfterSeconds)}`;
}
