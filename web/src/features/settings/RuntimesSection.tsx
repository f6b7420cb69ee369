import { useMutation, useQuery } from "@tanstack/react-query";
import type { DoctorCheck, RuntimeInfo, RuntimeTest } from "../../api/types";
import { Guarded } from "../../roles/Guarded";
import { Loaded } from "../../ui/Loaded";
import { ErrorNotice } from "../../ui/Notice";
import { asSentence, asSentences } from "../../ui/Sentence";
import { SkeletonRows } from "../../ui/Skeleton";
import { Badge, Status, type Tone } from "../../ui/Status";
import { settingsQueries, testRuntime } from "./queries";
import { Group, Line, Lines, Section } from "./Section";

/** Places where agents work, and whether they work right now. */
export function RuntimesSection() {
  const query = useQuery(settingsQueries.runtimes);
  return (
    <Section
      title="Runtimes"
      lead="Places where agents work, and the walls around them. A test does on the server what godel doctor does."
    >
      <Loaded query={query} what="The runtimes" skeleton={<SkeletonRows rows={2} height={54} />}>
        {({ items }) => items.map((runtime) => <OneRuntime key={runtime.name} runtime={runtime} />)}
      </Loaded>
    </Section>
  );
}

function OneRuntime({ runtime }: { runtime: RuntimeInfo }) {
  const { name } = runtime;
  const test = useMutation({
    mutationFn: () => testRuntime(name),
  });
  return (
    <Group title={name}>
      <Lines label={`The runtime ${name}`}>
        <Line
          id={`runtime ${name}`}
          title={asSentence(runtime.about)}
          note={runtimeNote(runtime)}
          state={
            runtime.offered ? (
              <Badge tone="ok" icon="check">
                offered
              </Badge>
            ) : (
              <Badge>not offered here</Badge>
            )
          }
          acts={
            <Guarded
              size="small"
              can="config:read:team"
              cli="godel doctor"
              onClick={() => test.mutate()}
              refused={test.isPending ? "It is being tried." : undefined}
            >
              {test.isPending ? "Trying" : "Test"}
            </Guarded>
          }
        />
      </Lines>
      {test.error && <ErrorNotice error={test.error} />}
      {test.data && <Checks test={test.data} />}
    </Group>
  );
}

/** What each check found, and what to do about it. */
export function Checks({ test }: { test: RuntimeTest }) {
  return (
    <Lines label={`What the test of ${test.name} found`}>
      {test.checks.map((check) => (
        <Line
          key={check.name}
          id={`check ${check.name}`}
          title={check.name}
          note={asSentences(check.message, check.hint)}
          state={<CheckStatus status={check.status} />}
        />
      ))}
    </Lines>
  );
}

const LOOKS: Record<string, { tone: Tone; icon: "check" | "alert" | "cross"; word: string }> = {
  ok: { tone: "ok", icon: "check", word: "Works" },
  skip: { tone: "plain", icon: "check", word: "Not needed" },
  warn: { tone: "warn", icon: "alert", word: "Look at it" },
  fail: { tone: "bad", icon: "cross", word: "Does not work" },
};

/** How a check ended, in a word. */
export function CheckStatus({ status }: Pick<DoctorCheck, "status">) {
  const look = LOOKS[status] ?? LOOKS.warn;
  return look ? (
    <Status tone={look.tone} icon={look.icon}>
      {look.word}
    </Status>
  ) : null;
}

const ISOLATION: Record<string, string> = {
  none: "no walls",
  process: "walls around processes",
  container: "a container",
  userspace_kernel: "a kernel of its own",
  microvm: "a machine of its own",
};

/** What the walls of a runtime are made of, and what it can do. */
export function runtimeNote({ offered, isolation, snapshot, network }: RuntimeInfo): string {
  if (!offered) return "This server did not find what it needs; a test says what that is.";
  const parts = [
    ISOLATION[isolation ?? ""] ?? isolation,
    snapshot === "memory"
      ? "snapshots with what runs"
      : snapshot !== "none" && "snapshots of files",
    network !== "none" && "a limited network",
  ];
  return asSentence(parts.filter(Boolean).join(", "));
}
