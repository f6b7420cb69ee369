import { useEffect, useEffectEvent, useState } from "react";
import { type ActionSpec, definedActions } from "../../actions/actions";
import { conflicts, keysOf, setKeys } from "../../actions/keymap";
import { chordOf } from "../../actions/keys";
import { PAGES } from "../../pages";
import { Button } from "../../ui/Button";
import { KeyCaps } from "../../ui/KeyCaps";
import { Notice } from "../../ui/Notice";
import { Badge } from "../../ui/Status";
import { addChord, groupsOf, isChanged } from "./keyboard";
import { Group, Line, Lines, Section } from "./Section";

/** Every key, and a way to give an action another one. */
export function KeyboardSection() {
  const [changes, setChanges] = useState(0);
  const [waiting, setWaiting] = useState<string>();
  // Actions are known when the code of their page is there.
  useEffect(() => {
    Promise.allSettled(PAGES.map((page) => page.load())).then(() => setChanges((n) => n + 1));
  }, []);
  const specs = definedActions();
  const change = (spec: ActionSpec, keys: readonly string[] | undefined) => {
    setKeys(spec.id, keys);
    setWaiting(undefined);
    setChanges(changes + 1);
  };
  const clashes = conflicts(specs);
  const changed = specs.filter(isChanged);
  return (
    <Section
      title="Keyboard"
      lead="Press a key for what you do often. Your choice counts for this browser."
      acts={
        <Button
          disabled={changed.length === 0}
          onClick={() => {
            for (const spec of changed) setKeys(spec.id, undefined);
            setChanges(changes + 1);
          }}
        >
          Reset all
        </Button>
      }
    >
      {clashes.length > 0 && (
        <Notice tone="bad">
          {clashes.map((clash) => (
            <p key={clash}>{clash}.</p>
          ))}
        </Notice>
      )}
      {groupsOf(specs).map(([group, list]) => (
        <Group key={group} title={group}>
          <Lines label={group}>
            {list.map((spec) => (
              <KeyLine
                key={spec.id}
                spec={spec}
                isWaiting={waiting === spec.id}
                onWait={(is) => setWaiting(is ? spec.id : undefined)}
                onChange={(keys) => change(spec, keys)}
              />
            ))}
          </Lines>
        </Group>
      ))}
    </Section>
  );
}

interface KeyLineProps {
  spec: ActionSpec;
  /** The next key that is pressed is the new one. */
  isWaiting: boolean;
  onWait: (isWaiting: boolean) => void;
  onChange: (keys: readonly string[] | undefined) => void;
}

/** One action and its keys. */
function KeyLine({ spec, isWaiting, onWait, onChange }: KeyLineProps) {
  const { id, title } = spec;
  const keys = keysOf(spec);
  const recorder = (
    <Recorder title={title} onDone={(next) => onChange([next])} onCancel={() => onWait(false)} />
  );
  const buttons = (
    <>
      <Button size="small" aria-label={`Change the key of ${title}`} onClick={() => onWait(true)}>
        Change
      </Button>
      {isChanged(spec) && (
        <Button
          size="small"
          look="quiet"
          aria-label={`Reset the key of ${title}`}
          onClick={() => onChange(undefined)}
        >
          Reset
        </Button>
      )}
    </>
  );
  return (
    <Line
      id={id}
      title={title}
      state={
        <>
          {isChanged(spec) && <Badge tone="info">yours</Badge>}
          {keys.length === 0 && <span>no key</span>}
          {keys.map((one) => (
            <KeyCaps key={one} keys={one} />
          ))}
        </>
      }
      acts={isWaiting ? recorder : buttons}
    />
  );
}

interface RecorderProps {
  title: string;
  onDone: (keys: string) => void;
  onCancel: () => void;
}

/** So long another key may follow. */
const FOLLOW_MS = 1_000;

/** Hears the next key, or two in a row; Escape leaves everything as it was. */
function Recorder({ title, onDone, onCancel }: RecorderProps) {
  const [first, setFirst] = useState<string>();
  const finish = useEffectEvent(onDone);
  useEffect(() => {
    if (first === undefined) return;
    const timer = setTimeout(() => finish(first), FOLLOW_MS);
    return () => clearTimeout(timer);
  }, [first]);
  return (
    <Button
      size="small"
      look="solid"
      autoFocus
      aria-label={`Press the new key of ${title}`}
      onBlur={onCancel}
      onKeyDown={(event) => {
        // Everything is heard here, nothing by the page.
        event.preventDefault();
        event.stopPropagation();
        event.nativeEvent.stopImmediatePropagation();
        if (event.key === "Escape") return onCancel();
        const chord = chordOf(event);
        if (chord === undefined) return;
        const keys = addChord(first, chord);
        if (first === undefined) setFirst(keys);
        else onDone(keys);
      }}
    >
      {first === undefined ? "Press a key" : <KeyCaps keys={first} />}
    </Button>
  );
}
