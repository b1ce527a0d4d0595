import { MessageType } from "../../shared/api/contract/sms.ts";
import type { RoutingTable } from "../../shared/carriers/record.ts";
import { findPriceOverrides } from "../../shared/money/prices/overrides.ts";
import type { RateCard } from "../../shared/money/prices/rate-card.ts";
import { amountOf } from "../../shared/money/wallet/money.ts";
import { now } from "../../shared/platform/clock.ts";
import { undefinedIfUnreadable } from "../../shared/platform/table/records.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { flag } from "./command.ts";
import type { Context } from "./context.ts";
import { findLosses, type Loss, type Market, type Question } from "./losses.ts";
import { organizationBatches } from "./organization.ts";
import { right, type Columns } from "./output.ts";
import { amountText } from "./price-changes.ts";

/** Whether an operator accepts prices below the cost of a carrier of their route. */
export const AllowLoss = flag(
  "--allow-loss",
  "accept prices below the cost of a carrier of their route, or below the stage's minimumMargin",
);

/** The number of losses to show, and of prefixes without a cost for each carrier. */
const shownLosses = 20;
const shownPrefixes = 10;

/** The present prices and routes of the stage. */
export function marketOf(card: RateCard, { routes }: Pick<RoutingTable, "routes">, context: Context): Market {
  return { card, routes, stageCarrier: context.stageCarrier };
}

/** A change of prices, costs or routes. */
interface Change extends Omit<Question, "at" | "minimumMargin"> {
  /** The former prices and routes, if the change can turn price overrides into losses too. */
  readonly beforeForOverrides?: Market;
  readonly allowLoss: boolean;
}

/**
 * Shows the losses of a change, the largest first, and warns of unknown costs.
 * @throws Error for losses that were not accepted
 */
export async function guardAgainstLoss(
  { allowLoss, beforeForOverrides, ...asked }: Change,
  context: Context,
): Promise<void> {
  const { output, minimumMargin } = context;
  const question: Question = { ...asked, minimumMargin, at: now() };
  const { losses, withoutCost } = findLosses(question);
  const all = [...losses];
  if (beforeForOverrides !== undefined) {
    for await (const own of organizationsWithPrices(context)) {
      const prefixes = own.prices.prefixes();
      all.push(...findLosses({ ...question, before: beforeForOverrides, prefixes, own }).losses);
    }
  }
  for (const [carrier, prefixes] of withoutCost) {
    const first = [...prefixes].slice(0, shownPrefixes).map((prefix) => prefix || "default");
    const more = prefixes.size > shownPrefixes ? ` and ${prefixes.size - shownPrefixes} more` : "";
    output.aside(`Warning: the cost of ${carrier} is unknown for ${first.join(", ")}${more}.`);
  }
  if (all.length === 0) return;
  output.table(all.toSorted(worstFirst).slice(0, shownLosses), columns);
  const what = minimumMargin === 0 ? "" : ` plus the minimum margin of ${percentText(minimumMargin)}`;
  const worst = all.length > shownLosses ? `; the ${shownLosses} largest losses are shown` : "";
  const count = all.length === 1 ? "1 price is" : `${all.length} prices are`;
  const summary = `${count} below the cost of a carrier of the route${what}${worst}.`;
  if (!allowLoss) throw new Error(`Nothing was changed: ${summary} Use --allow-loss to accept them.`);
  output.aside(`Warning: ${summary}`);
}

/** The organizations that have price overrides. */
async function* organizationsWithPrices({ output }: Context): AsyncGenerator<NonNullable<Question["own"]>> {
  let read = 0;
  const readOne = async (organizationId: string): Promise<NonNullable<Question["own"]> | undefined> => {
    const organization = await findOrganization(organizationId).catch(undefinedIfUnreadable);
    const prices = organization === undefined ? undefined : await findPriceOverrides(organization);
    return prices === undefined ? undefined : { organizationId, prices };
  };
  for await (const ids of organizationBatches()) {
    const found = await Promise.all(ids.map(readOne));
    yield* found.filter((each) => each !== undefined);
    read += ids.length;
    output.progress(`prices of ${read} organizations checked`);
  }
}

function worstFirst(one: Loss, other: Loss): number {
  return one.priceMicros - one.costMicros - (other.priceMicros - other.costMicros);
}

const columns: Columns<Loss> = {
  PREFIX: ({ prefix }) => prefix || "default",
  TYPE: ({ messageTypes: types }) => (types.length === MessageType.options.length ? "any" : types.join(", ")),
  ORGANIZATION: ({ organizationId }) => organizationId ?? "all",
  "VALID FROM": ({ validFrom }) => validFrom ?? "now",
  PRICE: ({ priceMicros }) => right(amountText(priceMicros)),
  CARRIER: "carrier",
  COST: ({ costMicros }) => right(amountText(costMicros)),
  MARGIN: ({ priceMicros, costMicros }) =>
    priceMicros === 0 ? "" : right(percentText(amountOf(priceMicros - costMicros) / amountOf(priceMicros))),
};

function percentText(share: number): string {
  return `${(100 * share).toFixed(1).replace(/\.0$/, "")}%`;
}
