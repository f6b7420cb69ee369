/** A field that is, or would be, different. */
export interface ChangedField {
  name: string;
  before?: string | null;
  after?: string | null;
}

/** `title: Old → New`; of what was not there before only what it is now. */
export function fieldText({ name, before, after }: ChangedField): string {
  if (before === null || before === undefined) return `${name}: ${after ?? "none"}`;
  return `${name}: ${before} → ${after ?? "none"}`;
}
