import { type KeyboardEvent, useId, useRef } from "react";
import { useChoice } from "../router/router";
import styles from "./Tabs.module.css";

/** One tab: what it is called in the address, on the page, and how many things are in it. */
export interface Tab<T extends string> {
  id: T;
  title: string;
  count?: number;
}

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly Tab<T>[];
  /** The name of the field of the address that holds the tab. */
  param?: string;
  children: (tab: T) => React.ReactNode;
}

/** Several views of one thing; the address says which. */
export function Tabs<T extends string>({ label, tabs, param = "tab", children }: TabsProps<T>) {
  const words = tabs.map((tab) => tab.id);
  const [chosen, choose] = useChoice(param, words, words[0] as T);
  const bar = useRef<HTMLDivElement>(null);
  const id = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (words.indexOf(chosen) + step + words.length) % words.length;
    choose(words[next] as T);
    bar.current?.querySelectorAll<HTMLElement>("[role='tab']")[next]?.focus();
  };
  return (
    <>
      <div ref={bar} className={styles.bar} role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            className={styles.tab}
            onClick={() => choose(tab.id)}
          >
            {tab.title}
            {tab.count !== undefined && <span className={styles.count}>{tab.count}</span>}
          </button>
        ))}
      </div>
      <div
        id={`${id}-panel`}
        className={styles.panel}
        role="tabpanel"
        aria-labelledby={`${id}-${chosen}`}
      >
        {children(chosen)}
      </div>
    </>
  );
}

interface SegmentedProps<T extends string> {
  label: string;
  options: readonly { id: T; title: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** A choice of a few words, all in sight. */
export function Segmented<T extends string>({
  label,
  options,
  value,
  onChange,
}: SegmentedProps<T>) {
  return (
    <fieldset className={styles.segments}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.id}
          type="button"
          aria-pressed={option.id === value}
          onClick={() => onChange(option.id)}
        >
          {option.title}
        </button>
      ))}
    </fieldset>
  );
}
