const PATHS = {
  alert:
    "M12 8.5v4.5m0 3.2v.1M10.4 4.3 3 17a1.9 1.9 0 0 0 1.6 2.8h14.8A1.9 1.9 0 0 0 21 17L13.6 4.3a1.9 1.9 0 0 0-3.2 0Z",
  check: "m5 12.5 4.5 4.5L19 7.5",
  chevron: "m9 6 6 6-6 6",
  clear: "M6.5 6.5l11 11m0-11-11 11",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  cross: "M6.5 6.5l11 11m0-11-11 11",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  filter: "M4 6h16M7 12h10m-7 6h4",
  pause: "M8.5 5.5v13m7-13v13",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8c0-3.6 3.4-5.5 7.5-5.5s7.5 1.9 7.5 5.5",
  play: "M7.5 5v14l11-7z",
  up: "M12 19V5m-6.5 6.5L12 5l6.5 6.5",
} as const;

/** A line icon; always beside a text or inside a labelled control. */
export function Icon({ name, size = 16 }: { name: keyof typeof PATHS; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
