import type { PublishedBrand } from "../../../shared/api/contract/brand.ts";
import type { ConsoleFeature } from "../../../shared/api/contract/console.ts";

const named = contentOf("features").split(" ");

/** The currency of this gateway's amounts. */
export const currency = contentOf("currency");

/** The operator's name, links and images. */
export const brand = brandOf(contentOf("brand"));

/** Whether this gateway has an optional feature. The page names the features. */
export function has(feature: ConsoleFeature): boolean {
  return named.includes(feature);
}

/** The link to add funds, which opens the form. The wallet explains how, where customers can neither pay nor top up. */
export const fundsLink = [has("payments") ? "#/payments?add" : "#/wallet?add", "Add funds"] as const;

/** Returns what the page states in one of its meta elements. */
function contentOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}

function brandOf(
  text: string,
): Pick<PublishedBrand, "images" | "name" | "privacyUrl" | "supportEmail" | "termsUrl"> {
  return text === "" ? { name: "", images: [] } : JSON.parse(text);
}
