import type { ConsoleFeature } from "../../../shared/contract/console.ts";

const named = document.querySelector<HTMLMetaElement>('meta[name="features"]')?.content.split(" ") ?? [];

/** Whether this gateway has an optional feature. The page names the features. */
export function has(feature: ConsoleFeature): boolean {
  return named.includes(feature);
}
