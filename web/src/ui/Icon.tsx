const PATHS = {
  agents:
    "M12 3v3m-6 0h12a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2Zm3 6v1.5m6-1.5v1.5M1.8 12v3m20.4-3v3",
  alert:
    "M12 8.5v4.5m0 3.2v.1M10.4 4.3 3 17a1.9 1.9 0 0 0 1.6 2.8h14.8A1.9 1.9 0 0 0 21 17L13.6 4.3a1.9 1.9 0 0 0-3.2 0Z",
  archive: "M3.5 5h17v4h-17zM5 9v10h14V9m-9 3.5h4",
  beads: "M5 6h.1M5 12h.1M5 18h.1M9.5 6H20M9.5 12H20M9.5 18H20",
  bell: "M6 10a6 6 0 1 1 12 0c0 5 2 6.5 2 6.5H4S6 15 6 10Zm4 9.5a2.2 2.2 0 0 0 4 0",
  branch: "M7 4.5v15M7 15c6 0 10-1.5 10-6.5m0 0a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  camera: "M4 8h3.5L9 5.5h6L16.5 8H20v11H4zM12 16.5a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4Z",
  check: "m5 12.5 4.5 4.5L19 7.5",
  chevron: "m9 6 6 6-6 6",
  circle: "M12 19a7 7 0 1 0 0-14 7 7 0 0 0 0 14Z",
  clear: "M6.5 6.5l11 11m0-11-11 11",
  clock: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-12.5V12l3 2",
  columns: "M4 5h16v14H4zM9.5 5v14m5-14v14",
  convoys: "M4 5h5v14H4zm5.5 0h5v9h-5zm5.5 0h5v11h-5z",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  cross: "M6.5 6.5l11 11m0-11-11 11",
  costs:
    "M12 3v18M16.5 7.2C15.6 5.9 14 5.3 12 5.3c-2.6 0-4.5 1.1-4.5 3.2 0 4.6 9.3 2.2 9.3 6.9 0 2.1-2 3.3-4.8 3.3-2.2 0-4-.8-4.9-2.2",
  dots: "M5.5 12h.1m6.4 0h.1m6.4 0h.1",
  down: "m6 9 6 6 6-6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Zm9.5 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  filter: "M4 6h16M7 12h10m-7 6h4",
  fork: "M7 5v5a3 3 0 0 0 3 3h4a3 3 0 0 0 3-3V5m-5 8v6",
  grid: "M4.5 4.5h6v6h-6zm9 0h6v6h-6zm-9 9h6v6h-6zm9 0h6v6h-6z",
  hand: "M7 12V7.5a1.5 1.5 0 0 1 3 0V11m0-1V5.5a1.5 1.5 0 0 1 3 0V11m0-.5V7a1.5 1.5 0 0 1 3 0v4.5m0-.5a1.5 1.5 0 0 1 3 0v3.5c0 3.6-2.4 6-5.7 6-3 0-4.4-1.3-5.8-3.9L4.6 13a1.5 1.5 0 0 1 2.4-1.8",
  home: "M4 11 12 4.5 20 11v8.5h-5.5V14h-5v5.5H4z",
  inbox: "M4 13.5 6.5 5h11l2.5 8.5V19H4zm0 0h4.5l1.5 2.5h4l1.5-2.5H20",
  lock: "M6 11h12v9H6zm2.5 0V8a3.5 3.5 0 0 1 7 0v3",
  menu: "M4 7h16M4 12h16M4 17h16",
  merge: "M7 4.5v15M7 8c0 5 4 7 10 7m0 0a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z",
  message: "M4 5.5h16v11H11l-4.5 3.5v-3.5H4z",
  moon: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z",
  open: "M13 5h6v6m0-6-8.5 8.5M18 14v5H5V6h5",
  pause: "M8.5 5.5v13m7-13v13",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8c0-3.6 3.4-5.5 7.5-5.5s7.5 1.9 7.5 5.5",
  plus: "M12 5v14M5 12h14",
  play: "M7.5 5v14l11-7z",
  queue: "M4 6h16v3.5H4zm0 6h16v3.5H4zM4 19h16",
  refresh: "M19 12a7 7 0 1 1-2.1-5M19 4v4h-4",
  review: "M5 4h9l5 5v11H5zM9 12.5l2 2 4-4",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.7-1.8L20 20",
  settings:
    "M4 7h9m5 0h2M4 17h3m5 0h8M15.5 9.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6ZM9.5 19.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6Z",
  stop: "M7 7h10v10H7z",
  sun: "M12 15.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM12 3v2m0 14v2m9-9h-2M5 12H3m15.4-6.4L17 7M7 17l-1.4 1.4m12.8 0L17 17M7 7 5.6 5.6",
  table: "M4 5h16v14H4zm0 4.7h16M4 14.3h16",
  teams:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6 8.5c0-3.3 2.6-5 6-5s6 1.7 6 5M15.5 4.4a3.5 3.5 0 0 1 0 6.2m2 4.2c2.2.7 3.5 2.2 3.5 4.7",
  terminal: "M4 5h16v14H4zm3.5 4 3 3-3 3m5.5 0h3.5",
  trash: "M5 7h14M10 7V4.5h4V7m3.5 0-.8 12.5H7.3L6.5 7",
  up: "M12 19V5m-6.5 6.5L12 5l6.5 6.5",
} as const;

/** The name of a line icon. */
export type IconName = keyof typeof PATHS;

/** A line icon; always beside a text or inside a labelled control. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
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
