import * as z from "zod/mini";

import { findOrganization } from "../../shared/accounts/organization-record.ts";
import type { CarrierBook } from "../../shared/carriers/record.ts";
import { MessageType } from "../../shared/contract/sms.ts";
import { now } from "../../shared/platform/clock.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/table.ts";
import { findPriceOverrides } from "../../shared/prices/overrides.ts";
import type { RateCard } from "../../shared/prices/rate-card.ts";
import { amountOf } from "../../shared/wallet/money.ts";
import { listWallets } from "../../shared/wallet/record.ts";
import { batches } from "./batches.ts";
import { part } from "./command.ts";
import type { Context } from "./context.ts";
import { findLosses, type Loss, type Market, type Question } from "./losses.ts";
import type { Column } from "./output.ts";
import { amountText } from "./price-changes.ts";

/** Whether an operator accepts prices that carriers of their routes take more than. */
export const AllowLoss = part(
  "--allow-loss",
  "also where a price is below what a carrier of its route takes, or leaves less than the stage's minimumMargin",
  z._default(z.boolean(), false),
);

/** The worst losses that are shown, and for each carrier the prefixes whose cost is missing. */
const shownLosses = 20;
const shownPrefixes = 10;

/** Organizations whose own prices are read at once. */
const readAtOnce = 25;

/** Prices and routes as they are, on the stage that a command is for. */
export function marketOf(card: RateCard, { routes }: Pick<CarrierBook, "routes">, context: Context): Market {
  return { card, routes, stageCarrier: context.stageCarrier };
}

/** A change of what prices are compared with. */
interface Change extends Omit<Question, "at" | "minimumMargin"> {
  /** Whether it can turn the prices that organizations have for themselves into losses. */
  readonly concernsAll?: { readonly before: Market };
  readonly allowLoss: boolean;
}

/**
 * Shows the losses of a change, the worst first, and what is not known.
 * @throws Error when it loses anything that was not accepted
 */
export async function guardAgainstLoss(
  { allowLoss, concernsAll, ...asked }: Change,
  context: Context,
): Promise<void> {
  const { output, minimumMargin } = context;
  const question: Question = { ...asked, minimumMargin, at: now() };
  const { losses, withoutCost } = findLosses(question);
  const all = [...losses];
  if (concernsAll !== undefined) {
    for await (const own of organizationsWithPrices(context)) {
      const prefixes = own.prices.prefixes();
      all.push(...findLosses({ ...question, ...concernsAll, prefixes, own }).losses);
    }
  }
  for (const [carrier, prefixes] of withoutCost) {
    const first = [...prefixes].slice(0, shownPrefixes).map((prefix) => prefix || "default");
    const more = prefixes.size > shownPrefixes ? ` and ${prefixes.size - shownPrefixes} more` : "";
    output.aside(`Warning: what ${carrier} takes is not known for ${first.join(", ")}${more}.`);
  }
  if (all.length === 0) return;
  output.table(all.toSorted(worstFirst).slice(0, shownLosses), columns);
  const what =
    minimumMargin === 0 ? "" : `, or above it by less than ${percentText(minimumMargin)} of the price`;
  const worst = all.length > shownLosses ? `; the worst ${shownLosses} are shown` : "";
  const count = all.length === 1 ? "1 price is" : `${all.length} prices are`;
  const summary = `${count} below what a carrier of the route takes${what}${worst}.`;
  if (!allowLoss) throw new Error(`Nothing was changed: ${summary} --allow-loss accepts them.`);
  output.aside(`Warning: ${summary}`);
}

/** The organizations that have prices for themselves. */
async function* organizationsWithPrices({ output }: Context): AsyncGenerator<NonNullable<Question["own"]>> {
  let read = 0;
  const readOne = async (organizationId: string): Promise<NonNullable<Question["own"]> | undefined> => {
    const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
    const prices = organization === undefined ? undefined : await findPriceOverrides(organization);
    return prices === undefined ? undefined : { organizationId, prices };
  };
  for await (const ids of batches(listWallets(), readAtOnce)) {
    const found = await Promise.all(ids.map(readOne));
    yield* found.filter((each) => each !== undefined);
    read += ids.length;
    output.progress(`prices of ${read} organizations checked`);
  }
}

function worstFirst(one: Loss, other: Loss): number {
  return one.priceMicros - one.costMicros - (other.priceMicros - other.costMicros);
}

const columns: readonly Column<Loss>[] = [
  { heading: "prefix", text: ({ prefix }) => prefix || "default" },
  {
    heading: "type",
    text: ({ messageTypes }) =>
      messageTypes.length === MessageType.options.length ? "any" : messageTypes.join(", "),
  },
  { heading: "for", text: ({ organizationId }) => organizationId ?? "everybody" },
  { heading: "valid from", text: ({ validFrom }) => validFrom ?? "now" },
  { heading: "price", text: ({ priceMicros }) => amountText(priceMicros), isNumber: true },
  { heading: "carrier", text: ({ carrier }) => carrier },
  { heading: "cost", text: ({ costMicros }) => amountText(costMicros), isNumber: true },
  {
    heading: "margin",
    text: ({ priceMicros, costMicros }) =>
      priceMicros === 0 ? "" : percentText(amountOf(priceMicros - costMicros) / amountOf(priceMicros)),
    isNumber: true,
  },
];

function percentText(share: number): string {
  return `${(100 * share).toFixed(1).replace(/\.0$/, "")}%`;
}
