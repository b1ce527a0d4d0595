import type { JSX } from "preact";

const amountFormat = new Intl.NumberFormat(undefined, {
  style: "currency",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});
const countFormat = new Intl.NumberFormat();
const shareFormat = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** An amount in USD as the viewer's language writes it. */
export function amountText(amount: number): string {
  return amountFormat.format(amount);
}

/** A number of things as the viewer's language writes it, with the word for them. */
export function countText(count: number, one?: string, many = `${one}s`): string {
  const number = countFormat.format(count);
  return one === undefined ? number : `${number} ${count === 1 ? one : many}`;
}

/** A share between 0 and 1, as a percentage. */
export function shareText(share: number): string {
  return shareFormat.format(share);
}

/** An amount in USD; `signed` shows what came in with a plus. */
export function Money({ amount, signed = false }: { amount: number; signed?: boolean }): JSX.Element {
  return (
    <span class="number">
      {signed && amount > 0 ? "+" : ""}
      {amountText(amount)}
    </span>
  );
}
