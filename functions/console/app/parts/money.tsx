import { currency } from "../features.ts";

const style = { style: "currency", currency } as const;
const amountFormat = new Intl.NumberFormat(undefined, { ...style, maximumFractionDigits: 6 });
const shortFormat = new Intl.NumberFormat(undefined, { ...style, roundingMode: "trunc" });
const countFormat = new Intl.NumberFormat();
const shareFormat = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** The decimals of the currency. */
export const currencyDecimals = shortFormat.resolvedOptions().maximumFractionDigits ?? 2;

/** An amount in the viewer's locale. */
export function amountText(amount: number): string {
  return amountFormat.format(amount);
}

/**
 * An amount with the decimals of the currency, rounded towards zero so that a balance never looks higher than it is. An
 * amount below its smallest unit is shown in full.
 */
function shortAmountText(amount: number): string {
  return amount !== 0 && Math.abs(amount) < 10 ** -currencyDecimals
    ? amountText(amount)
    : shortFormat.format(amount);
}

/** A count in the viewer's locale, with its noun. */
export function countText(count: number, one?: string, many = `${one}s`): string {
  const number = countFormat.format(count);
  return one === undefined ? number : `${number} ${count === 1 ? one : many}`;
}

/** A count for a list of facts, with a note; undefined when there is nothing to count. */
export function optionalCount(count = 0, note = ""): string | undefined {
  return count === 0 ? undefined : `${countText(count)}${note}`;
}

export function shareText(share: number): string {
  return shareFormat.format(share);
}

/** An amount. `signed` adds a plus to income; `isShort` shows cents, with the exact amount in the tooltip. */
export function Money({
  amount,
  signed = false,
  isShort = false,
}: {
  amount: number;
  signed?: boolean;
  isShort?: boolean;
}) {
  return (
    <span class="number whole" title={isShort ? amountText(amount) : undefined}>
      {signed && amount > 0 ? "+" : ""}
      {isShort ? shortAmountText(amount) : amountText(amount)}
    </span>
  );
}
