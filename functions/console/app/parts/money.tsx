import type { JSX } from "preact";

const amountFormat = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const shortFormat = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  roundingMode: "trunc",
});
const countFormat = new Intl.NumberFormat();
const shareFormat = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** An amount in USD as the viewer's language writes it. */
export function amountText(amount: number): string {
  return amountFormat.format(amount);
}

/**
 * An amount in USD to the cent, rounded towards zero, so that a balance never looks larger than it is. What is less than a
 * cent is shown in full.
 */
function shortAmountText(amount: number): string {
  return amount !== 0 && Math.abs(amount) < 0.01 ? amountText(amount) : shortFormat.format(amount);
}

/** A number of things as the viewer's language writes it, with the word for them. */
export function countText(count: number, one?: string, many = `${one}s`): string {
  const number = countFormat.format(count);
  return one === undefined ? number : `${number} ${count === 1 ? one : many}`;
}

/** A count for a list of facts, with a note; undefined when there is nothing to count. */
export function optionalCount(count = 0, note = ""): string | undefined {
  return count === 0 ? undefined : `${countText(count)}${note}`;
}

/** A share between 0 and 1, as a percentage. */
export function shareText(share: number): string {
  return shareFormat.format(share);
}

/** An amount in USD; `signed` shows what came in with a plus, `isShort` has only cents and the rest in its tip. */
export function Money({
  amount,
  signed = false,
  isShort = false,
}: {
  amount: number;
  signed?: boolean;
  isShort?: boolean;
}): JSX.Element {
  return (
    <span class="number whole" title={isShort ? amountText(amount) : undefined}>
      {signed && amount > 0 ? "+" : ""}
      {isShort ? shortAmountText(amount) : amountText(amount)}
    </span>
  );
}
