import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client";
import type { Session } from "../../api/types";
import { Button } from "../../ui/Button";
import { CardPage } from "../../ui/CardPage";
import { ErrorNotice } from "../../ui/Notice";
import { WhoAmI } from "../account/WhoAmI";
import { useLogout } from "../session/queries";
import styles from "./DevicePage.module.css";
import { CodeForm, End, Question } from "./DeviceSteps";
import { offerDeviceCode } from "./deviceLink";
import { useDeviceDecision } from "./queries";

type Step =
  | { at: "code" }
  | { at: "decision"; code: string; program: string }
  | { at: "end"; program: string; isIn: boolean };

const TITLES = { code: "Let a program in", decision: "Let this program in?" };

/** Where a person answers `godel login`, which runs elsewhere and shows a code. */
export function DevicePage({ session }: { session: Session }) {
  const [step, setStep] = useState<Step>({ at: "code" });
  const decision = useDeviceDecision();
  const titleRef = useFocusOnChange(step.at);

  const look = (code: string) => {
    // It outlives this page, in case that the session ended.
    offerDeviceCode(code);
    decision.mutate(
      { userCode: code },
      { onSuccess: ({ name }) => setStep({ at: "decision", code, program: name }) },
    );
  };
  const answer = (code: string, approve: boolean) =>
    decision.mutate(
      { userCode: code, approve },
      {
        onSuccess: ({ name }) => {
          offerDeviceCode("");
          setStep({ at: "end", program: name, isIn: approve });
        },
        // It waited too long, or somebody else has answered.
        onError: (error) => {
          if (error instanceof ApiError && error.code === "device_code_invalid") {
            setStep({ at: "code" });
          }
        },
      },
    );
  const restart = () => {
    offerDeviceCode("");
    decision.reset();
    setStep({ at: "code" });
  };

  if (step.at === "end") return <End {...step} titleRef={titleRef} onRestart={restart} />;
  return (
    <CardPage
      title={TITLES[step.at]}
      titleRef={titleRef}
      lead={step.at === "code" && "Enter the code that the program shows."}
      links={<a href="/dashboard/">Dashboard</a>}
    >
      {decision.error && <ErrorNotice error={decision.error} />}
      {step.at === "code" ? (
        <CodeForm isBusy={decision.isPending} onCode={look} />
      ) : (
        <Question
          {...step}
          isBusy={decision.isPending}
          onAnswer={(approve) => answer(step.code, approve)}
          onRestart={restart}
        />
      )}
      <Me session={session} />
    </CardPage>
  );
}

/** In whose name the program would act, and the way to be somebody else. */
function Me({ session }: { session: Session }) {
  const logout = useLogout();
  return (
    <section className={styles.me} aria-label="Your account">
      <WhoAmI session={session} />
      {logout.error && <ErrorNotice error={logout.error} />}
      <Button look="quiet" disabled={logout.isPending} onClick={() => logout.mutate()}>
        Sign in as somebody else
      </Button>
    </section>
  );
}

/** Moves the focus to the title of a new step, so that a screen reader reads it. */
function useFocusOnChange(step: string) {
  const title = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current !== step) title.current?.focus();
    shown.current = step;
  }, [step]);
  return title;
}
