import { money } from "./format";

/** An amount from millionths of a dollar; what no price is known for is said so. */
export function Money({ micros }: { micros: number | null | undefined }) {
  if (micros === null || micros === undefined) {
    return <span title="The price of a model is not known">no price</span>;
  }
  return <span className="tabular">{money(micros)}</span>;
}
