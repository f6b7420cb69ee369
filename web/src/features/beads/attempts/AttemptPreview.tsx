import type { Attempt } from "../../../api/types";
import { PreviewPanel } from "../../previews/PreviewPanel";
import { ofAgent } from "../../previews/target";

interface AttemptPreviewProps {
  attempt: Attempt;
  /** Why the attempts are not this person's. */
  foreign: string | undefined;
}

/** The app as one attempt has made it. */
export function AttemptPreview({ attempt, foreign }: AttemptPreviewProps) {
  const target = ofAgent({ id: attempt.agentId, label: attempt.agent });
  return <PreviewPanel target={target} name={`attempt ${attempt.number}`} foreign={foreign} />;
}
