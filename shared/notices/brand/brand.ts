import { linksOf } from "../../api/contract/brand-links.ts";
import { PublishedBrand } from "../../api/contract/brand.ts";
import { config } from "../../platform/config.ts";
import { escapeHtml } from "../../platform/html.ts";

/** The last text and its brand. They are parsed once, because a function has the same text for its whole life. */
let parsed: { readonly text: string; readonly brand: PublishedBrand } | undefined;

/** Returns the brand of this stage. */
export function brand(): PublishedBrand {
  const text = config.brand();
  if (parsed?.text !== text) parsed = { text, brand: PublishedBrand.parse(JSON.parse(text)) };
  return parsed.brand;
}

/**
 * Fills the brand into a page that was made at build time.
 * @param html with `{{brand.name}}`, `{{brand.logo}}`, `{{brand.json}}` and `{{brand.links}}`
 */
export function filled(html: string): string {
  const { images } = brand();
  const name = escapeHtml(brand().name);
  const values: Readonly<Record<string, string>> = {
    name,
    logo: images.includes("logo.svg") ? `<img src="brand/logo.svg" alt="${name}">` : name,
    json: escapeHtml(JSON.stringify(brand())),
    links: brandLinks(),
  };
  return html.replaceAll(/\{\{brand\.(\w+)\}\}/g, (found, key: string) => values[key] ?? found);
}

/** Returns the links to help, terms and privacy in HTML. */
export function brandLinks(): string {
  return linksOf(brand())
    .map(([label, url]) => `<a href="${escapeHtml(url)}">${label}</a>`)
    .join("\n");
}
