import type { ConsoleFeature } from "../../../shared/contract/console.ts";

const named = document.querySelector<HTMLMetaElement>('meta[name="features"]')?.content.split(" ") ?? [];

/** Whether the gateway has what not every one has, as the page says. */
export function has(feature: ConsoleFeature): boolean {
  return named.includes(feature);
}
