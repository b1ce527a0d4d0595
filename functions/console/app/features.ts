import type { ConsoleFeature } from "../../../shared/contract/console.ts";

const named = document.querySelector<HTMLMetaElement>('meta[name="features"]')?.content.split(" ") ?? [];

/** Whether this gateway has an optional feature. The page names the features. */
export function has(feature: ConsoleFeature): boolean {
  return named.includes(feature);
}

/** The label of links to the wallet. The wallet explains how to add funds where customers cannot top up. */
export const topUpLabel = has("top-up") ? "Top up" : "Wallet";
