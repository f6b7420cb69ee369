import { useRef } from "react";
import { Button } from "../../../ui/Button";
import { FileDrop } from "../../../ui/FileDrop";
import { LongField } from "../../../ui/form/LongField";
import { asSentence } from "../../../ui/Sentence";
import { type Problem, problemsOf } from "./queries";
import styles from "./workflows.module.css";

interface SourceBoxProps {
  value: string;
  onChange: (text: string) => void;
  /** What the server said about the text. */
  error: Error | null;
  rows?: number;
}

const EXAMPLE = `name: release
inputs:
  branch: { type: string, default: main }
steps:
  - id: build
    with: { branch: "{{ inputs.branch }}" }
  - id: test
    dependsOn: [build]
`;

/** The text of a workflow, with a place for a file; each problem leads to its line and column. */
export function SourceBox({ value, onChange, error, rows = 16 }: SourceBoxProps) {
  const box = useRef<HTMLTextAreaElement>(null);
  const { problems, leftOut } = problemsOf(error);
  const goTo = ({ line, column }: Problem) => {
    const before = value.split("\n").slice(0, line - 1);
    const at = before.reduce((sum, text) => sum + text.length + 1, column - 1);
    box.current?.focus();
    box.current?.setSelectionRange(at, at);
  };
  return (
    <>
      <LongField
        ref={box}
        label="The workflow, as YAML or JSON"
        rows={rows}
        isSource
        value={value}
        placeholder={EXAMPLE}
        onChange={(event) => onChange(event.target.value)}
      />
      {problems.length > 0 && (
        <section className={styles.problems} aria-label="Problems" role="alert">
          <ul>
            {problems.map((problem) => (
              <li key={`${problem.line} ${problem.column} ${problem.message}`}>
                <Button
                  look="quiet"
                  size="small"
                  aria-label={`Go to line ${problem.line}, column ${problem.column}`}
                  onClick={() => goTo(problem)}
                >
                  <span className="tabular">
                    {problem.line}:{problem.column}
                  </span>
                </Button>
                <span>
                  {asSentence(problem.message).replaceAll("`", "")}
                  {problem.hint && ` ${asSentence(problem.hint).replaceAll("`", "")}`}
                </span>
              </li>
            ))}
          </ul>
          {leftOut > 0 && <p>And {leftOut} more.</p>}
        </section>
      )}
      <FileDrop
        label="Or a file of a workflow"
        accept=".yaml,.yml,.json"
        chosen={undefined}
        onChoose={async (file) => onChange(await file.text())}
      />
    </>
  );
}
