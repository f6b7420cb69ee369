import { useQuery } from "@tanstack/react-query";
import type { Attempt, Attempts } from "../../../api/types";
import { Guarded } from "../../../roles/Guarded";
import { Button } from "../../../ui/Button";
import { Cli } from "../../../ui/Cli";
import { Dialog } from "../../../ui/Dialog";
import { duration } from "../../../ui/format";
import { Loaded } from "../../../ui/Loaded";
import { Money } from "../../../ui/Money";
import { Select } from "../../../ui/PageHead";
import { SkeletonRows } from "../../../ui/Skeleton";
import { Badge } from "../../../ui/Status";
import { PatchLines } from "../../agents/detail/PatchLines";
import { AttemptPreview } from "./AttemptPreview";
import { AttemptState } from "./AttemptState";
import styles from "./AttemptsSection.module.css";
import { gatesOf, whyNotPick } from "./attempts";
import { attemptQueries, type TriedBead } from "./queries";
import { pickCli, useAttemptActs } from "./useAttemptActs";
import { useForeignAttempts } from "./useForeignAttempts";

interface CompareProps {
  bead: TriedBead;
  found: Attempts;
  /** Such as `2`, or `2-1` for how the first differs from the second. */
  shown: string;
  onShow: (shown: string) => void;
  onClose: () => void;
}

/** All attempts side by side, and the lines of one of them or between two. */
export function CompareAttempts({ bead, found, shown, onShow, onClose }: CompareProps) {
  const [number = 0, against] = shown.split("-").map(Number);
  const other = against === number ? undefined : against;
  return (
    <Dialog title={`The attempts at ${bead.id}`} isWide onClose={onClose}>
      <div className={styles.compare}>
        <Table bead={bead} found={found} onPicked={onClose} />
        <Previews found={found} />
        <Sides found={found} number={number} against={other} onShow={onShow} />
        <Lines bead={bead} number={number} against={other} />
        <div className={styles.foot}>
          <Cli
            command={`godel attempt diff ${bead.id} ${number}${other === undefined ? "" : ` ${other}`}`}
          />
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}

function Table({
  bead,
  found,
  onPicked,
}: Pick<CompareProps, "bead" | "found"> & { onPicked: () => void }) {
  const { pick } = useAttemptActs(bead);
  const foreign = useForeignAttempts()(found);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by key
    <div className={styles.scroll} tabIndex={0}>
      <table className={styles.table} aria-label="The attempts side by side">
        <thead>
          <tr>
            {["No.", "Model", "State", "Gates", "Lines", "Cost", "Time"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            <td />
          </tr>
        </thead>
        <tbody>
          {found.attempts.map((attempt) => (
            <tr key={attempt.number}>
              <Cells attempt={attempt} />
              <td>
                <Guarded
                  size="small"
                  align="end"
                  can="agent:execute:own"
                  destructive
                  refused={foreign ?? whyNotPick(found, attempt)}
                  cli={pickCli(bead.id, attempt)}
                  aria-label={`Pick attempt ${attempt.number}`}
                  onClick={async () => {
                    if (await pick(attempt)) onPicked();
                  }}
                >
                  Pick
                </Guarded>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The apps side by side, each at a port of its own. */
function Previews({ found }: { found: Attempts }) {
  const foreign = useForeignAttempts()(found);
  return (
    <ul className={styles.apps} aria-label="Previews of the attempts">
      {found.attempts.map((attempt) => (
        <li key={attempt.number} data-previewed={attempt.number}>
          <strong>{`Attempt ${attempt.number}`}</strong>
          <AttemptPreview attempt={attempt} foreign={foreign} />
        </li>
      ))}
    </ul>
  );
}

function Cells({ attempt }: { attempt: Attempt }) {
  const gates = gatesOf(attempt);
  const { spentMicros, seconds } = attempt;
  return (
    <>
      <th scope="row">{attempt.number}</th>
      <td>{attempt.model ?? "of the project"}</td>
      <td>
        <AttemptState attempt={attempt} />
      </td>
      <td>
        <Badge tone={gates.tone} {...(gates.why && { title: gates.why })}>
          {gates.word}
        </Badge>
      </td>
      <td>
        {attempt.commit ? (
          <>
            <ins>+{attempt.added}</ins> <del>−{attempt.removed}</del>
          </>
        ) : (
          "none yet"
        )}
      </td>
      <td>
        {spentMicros === null || spentMicros === undefined ? (
          "not known"
        ) : (
          <Money micros={spentMicros} />
        )}
      </td>
      <td>{seconds === null || seconds === undefined ? "" : duration(seconds)}</td>
    </>
  );
}

interface SidesProps {
  found: Attempts;
  number: number;
  against: number | undefined;
  onShow: (shown: string) => void;
}

/** Which attempt is read, and what it is compared with. */
function Sides({ found, number, against, onShow }: SidesProps) {
  const able = found.attempts.filter(({ commit }) => commit);
  const options = able.map((one) => [String(one.number), `Attempt ${one.number}`] as const);
  return (
    <div className={styles.sides}>
      <Select
        label="Which attempt"
        value={String(number)}
        options={options}
        onChange={(next) => onShow(next)}
      />
      <Select
        label="Compared with"
        value={against === undefined ? "base" : String(against)}
        options={[
          ["base", "since all began"],
          ...options
            .filter(([value]) => value !== String(number))
            .map(([value, title]) => [value, `to ${title.toLowerCase()}`] as const),
        ]}
        onChange={(next) => onShow(next === "base" ? String(number) : `${number}-${next}`)}
      />
    </div>
  );
}

function Lines({
  bead,
  number,
  against,
}: { bead: TriedBead } & Omit<SidesProps, "found" | "onShow">) {
  const query = useQuery(attemptQueries.diff(bead, number, against));
  return (
    <Loaded query={query} what="The change" skeleton={<SkeletonRows rows={4} />}>
      {(diff) => <PatchLines diff={diff} same="Nothing is different." />}
    </Loaded>
  );
}
