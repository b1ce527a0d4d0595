import { ApiError } from "../api/contract/errors.ts";
import { config } from "../platform/config.ts";
import { cachedCarriers } from "./record.ts";
import { routeFinder, type Routed } from "./routes.ts";

const readCarriers = cachedCarriers();

type Counted = Routed & { readonly segments: number };

/**
 * Returns a function that states whether no carrier of a message's route sends it whole. It would lose its end after it was
 * charged.
 */
export async function lengthRule(): Promise<(message: Counted) => boolean> {
  const { carriers, routes } = await readCarriers();
  const find = routeFinder(routes);
  return (message) => {
    const names = routes.length === 0 ? [config.carrier()] : (find(message)?.carriers ?? []);
    const limits = names.map((name) => carriers.get(name)?.settings.maxParts ?? Infinity);
    return limits.length > 0 && limits.every((limit) => message.segments > limit);
  };
}

/** Nothing is read for a message of one part. @throws ApiError MESSAGE_TOO_LONG */
export async function checkLength(message: Counted): Promise<void> {
  if (message.segments > 1 && (await lengthRule())(message)) throw new ApiError("MESSAGE_TOO_LONG");
}
