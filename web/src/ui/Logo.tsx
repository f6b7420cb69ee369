/** The mark: a G as a ring that does not close, with its own centre in sight. */
export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path
        d="M25.5 9.6A11.5 11.5 0 1 0 27.5 16H16"
        stroke="currentColor"
        strokeWidth="3.2"
        strokeLinecap="round"
      />
      <circle cx="16" cy="16" r="3.6" fill="var(--accent)" />
    </svg>
  );
}
