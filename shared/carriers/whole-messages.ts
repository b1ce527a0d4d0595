import { ApiError } from "../api/contract/errors.ts";
import { config } from "../platform/config.ts";
import { cachedCarriers, type RoutingTable } from "./record.ts";
import { carrierFinder, type Routed } from "./routes.ts";

const readCarriers = cachedCarriers();

type Counted = Routed & { readonly segments: number };
type LengthRule = (message: Counted) => boolean;

/**
 * Returns a function that states whether no carrier of a message's route sends it whole. It would lose its end after it was
 * charged.
 */
export async function lengthRule(): Promise<LengthRule> {
  const table = await readCarriers();
  // A batch calls this for each of its messages, and a table may have thousands of routes.
  if (latest?.table !== table) latest = { table, rule: ruleOf(table) };
  return latest.rule;
}

let latest: { readonly table: RoutingTable; readonly rule: LengthRule } | undefined;

function ruleOf({ carriers, routes }: RoutingTable): LengthRule {
  const find = carrierFinder(routes, config.carrier());
  return (message) => {
    const limits = find(message).map((name) => carriers.get(name)?.settings.maxParts ?? Infinity);
    return limits.every((limit) => message.segments > limit);
  };
}

/** Nothing is read for a message of one part. @throws ApiError MESSAGE_TOO_LONG */
export async function checkLength(message: Counted): Promise<void> {
  if (message.segments > 1 && (await lengthRule())(message)) throw new ApiError("MESSAGE_TOO_LONG");
}
