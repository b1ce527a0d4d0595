import type { PublishedBrand } from "./brand.ts";

/** Returns the links to help, terms and privacy that the operator has set. */
export function linksOf({
  supportEmail,
  termsUrl,
  privacyUrl,
}: Pick<PublishedBrand, "privacyUrl" | "supportEmail" | "termsUrl">): [label: string, url: string][] {
  const links: [label: string, url: string | undefined][] = [
    ["Support", supportEmail === undefined ? undefined : `mailto:${supportEmail}`],
    ["Terms", termsUrl],
    ["Privacy", privacyUrl],
  ];
  return links.flatMap(([label, url]) => (url === undefined ? [] : [[label, url]]));
}
