import { dollars, money } from "./format";

/**
 * An amount from millionths of a dollar, to the last of them on hover; what no price is known for is
 * said so.
 */
export function Money({ micros }: { micros: number | null | undefined }) {
  if (micros === null || micros === undefined) {
    return <span title="The price of a model is not known">no price</span>;
  }
  return (
    <span className="tabular" title={`$${dollars(micros)}`} data-micros={micros}>
      {money(micros)}
    </span>
  );
}
