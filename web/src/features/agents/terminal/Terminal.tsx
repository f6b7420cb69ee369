import { lazy, Suspense } from "react";
import type { Agent } from "../../../api/types";
import { useChoice } from "../../../router/router";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Segmented } from "../../../ui/Tabs";
import { TerminalLog } from "../detail/TerminalLog";

/** The screen of a shell is code that few visits need. */
const Shell = lazy(() => import("./Shell").then(({ Shell }) => ({ default: Shell })));

const KINDS = [
  { id: "log", title: "Log" },
  { id: "shell", title: "Shell" },
] as const;

/** What the agent says and does as text, or a shell beside it. */
export function Terminal({ agent }: { agent: Agent }) {
  const [kind, choose] = useChoice("show", ["log", "shell"] as const, "log");
  const tools = <Segmented label="What to show" options={KINDS} value={kind} onChange={choose} />;
  if (kind === "log") return <TerminalLog agent={agent} tools={tools} />;
  return (
    <Suspense fallback={<SkeletonRows />}>
      <Shell key={agent.id} agent={agent} tools={tools} />
    </Suspense>
  );
}
