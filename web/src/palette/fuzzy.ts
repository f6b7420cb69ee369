/**
 * How well a text answers what was typed: higher is better, undefined is not at all. All letters
 * must appear in order; those at the start of words and in a row count more.
 */
export function score(typed: string, text: string): number | undefined {
  const wanted = typed.toLowerCase().replaceAll(" ", "");
  if (wanted === "") return 0;
  const low = text.toLowerCase();
  const whole = low.indexOf(typed.toLowerCase().trim());
  if (whole >= 0) {
    const end = whole + typed.trim().length;
    const partly = (isWordStart(low, whole) ? 0 : 200) + (isWordEnd(low, end) ? 0 : 20);
    return 1_000 - whole - partly - low.length / 100;
  }
  let total = 0;
  let at = -1;
  for (const letter of wanted) {
    const next = low.indexOf(letter, at + 1);
    if (next < 0) return undefined;
    total += next === at + 1 ? 8 : isWordStart(low, next) ? 6 : 1;
    at = next;
  }
  return total - low.length / 100;
}

function isWordEnd(text: string, at: number): boolean {
  return at >= text.length || /[^a-z0-9]/.test(text[at] ?? "");
}

function isWordStart(text: string, at: number): boolean {
  return at === 0 || /[^a-z0-9]/.test(text[at - 1] ?? "");
}
