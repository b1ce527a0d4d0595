import type { ConsoleFeature } from "../../../shared/contract/console.ts";

const named = contentOf("features").split(" ");

/** The currency of this gateway's amounts. */
export const currency = contentOf("currency");

/** Whether this gateway has an optional feature. The page names the features. */
export function has(feature: ConsoleFeature): boolean {
  return named.includes(feature);
}

/** The label of links to the wallet. The wallet explains how to add funds where customers cannot top up. */
export const topUpLabel = has("top-up") ? "Top up" : "Wallet";

/** Returns what the page states in one of its meta elements. */
function contentOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}
