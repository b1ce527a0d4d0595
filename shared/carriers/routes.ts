import type { MessageType } from "../api/contract/sms.ts";
import type { RouteRecord } from "./record.ts";
import { trafficClass } from "./traffic-class.ts";

/** The fields of a message that choose its route. */
export interface Routed {
  readonly to: string;
  readonly messageType?: MessageType | undefined;
  readonly campaignId?: string | undefined;
}

function routeName(prefix: string, messageType: MessageType | undefined): string {
  return `${prefix}#${messageType ?? "any"}`;
}

/**
 * Returns a function that finds the route of a message: the longest prefix wins. Among routes with the same prefix, the
 * one for the message's traffic class wins.
 */
export function routeFinder(routes: readonly RouteRecord[]): (message: Routed) => RouteRecord | undefined {
  const byName = new Map(routes.map((route) => [routeName(route.prefix, route.messageType), route]));
  return (message) => {
    const { to } = message;
    const messageType = trafficClass(message);
    for (let length = to.length; length >= 0; length -= 1) {
      const prefix = to.slice(0, length);
      const route = byName.get(routeName(prefix, messageType)) ?? byName.get(routeName(prefix, undefined));
      if (route !== undefined) return route;
    }
    return undefined;
  };
}

/**
 * Returns a function that finds the names of a message's carriers, in their order. The stage's carrier is for all
 * messages without a route, so that a route changes nothing for other numbers.
 */
export function carrierFinder(
  routes: readonly RouteRecord[],
  stageCarrier: string,
): (message: Routed) => readonly string[] {
  const find = routeFinder(routes);
  return (message) => find(message)?.carriers ?? [stageCarrier];
}
