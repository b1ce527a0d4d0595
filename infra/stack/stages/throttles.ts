import type * as z from "zod/mini";

import { routes } from "../../../shared/api/routes.ts";
import type { TaggedRoute } from "../../../shared/api/routes/route.ts";
import type { StageSettings } from "./settings.ts";

type Throttles = z.infer<typeof StageSettings>["throttle"];

/** The limits of routes without a credential that are not `anonymous`, by their tags. */
const throttleOfTag: { readonly [tag: string]: "carriers" | "paymentEvents" | "unknownPaths" | undefined } = {
  carriers: "carriers",
  fallback: "unknownPaths",
  hooks: "unknownPaths",
  payments: "paymentEvents",
};

/** Returns the separate limit of a route, if it has one. */
export function throttleOf(
  throttle: Throttles,
  name: string,
  { auth, tag }: Pick<TaggedRoute, "auth" | "tag">,
): Throttles["anonymous"] | undefined {
  const operations: { readonly [name: string]: Throttles["anonymous"] | undefined } = throttle.operations;
  // The console's log-in tries the same passwords as that of programs.
  const own = operations[name === "createSession" ? "login" : name];
  return own ?? (auth === "none" ? throttle[throttleOfTag[tag] ?? "anonymous"] : undefined);
}

/**
 * Returns for each limit by address what the slowest of its routes accepts from all callers in five minutes. Unknown paths
 * are under each prefix, and the firewall cannot distinguish them from others.
 */
export function acceptedInFiveMinutes(throttle: Throttles) {
  const slowest = (covers: (path: string) => boolean, ...others: number[]): number => {
    const rates = Object.entries<TaggedRoute>(routes)
      .filter(([, { auth, path }]) => auth === "none" && covers(path))
      .map(([name, route]) => throttleOf(throttle, name, route)?.rateLimit ?? throttle.rateLimit);
    return 300 * Math.min(throttle.unknownPaths.rateLimit, ...rates, ...others);
  };
  const isAuth = (path: string): boolean => path.startsWith("/v1/auth/");
  const isCarrier = (path: string): boolean => path.startsWith("/v1/carriers/");
  return [
    ["requestsPerAddressPer5Minutes", slowest(() => false, throttle.rateLimit)],
    ["authRequestsPerAddressPer5Minutes", slowest(isAuth)],
    ["anonymousRequestsPerAddressPer5Minutes", slowest((path) => !isAuth(path) && !isCarrier(path))],
    ["carrierRequestsPerAddressPer5Minutes", slowest(isCarrier)],
  ] as const;
}
