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

/** An amount in USD in the viewer's locale. */
export function amountText(amount: number): string {
  return amountFormat.format(amount);
}

/**
 * An amount in USD to the cent, rounded towards zero so that a balance never looks higher than it is. Amounts below a cent
 * are shown in full.
 */
function shortAmountText(amount: number): string {
  return amount !== 0 && Math.abs(amount) < 0.01 ? amountText(amount) : shortFormat.format(amount);
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

/** An amount in USD. `signed` adds a plus to income; `isShort` shows cents, with the exact amount in the tooltip. */
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
