import { readFile } from "node:fs/promises";

import { softAccents, type BrandFile, type BrandImage } from "../../api/contract/brand.ts";
import { ApiError } from "../../api/contract/errors.ts";
import { escapeHtml } from "../../platform/html.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { brand } from "./brand.ts";

const contentTypes: Readonly<Record<BrandFile, string>> = {
  "card.png": "image/png",
  "icon.svg": "image/svg+xml",
  "logo.svg": "image/svg+xml",
  "theme.css": "text/css; charset=utf-8",
};

/**
 * Returns a file of the brand: an image of the stage, the default icon, or the style sheet with the colors.
 * @throws ApiError NOT_FOUND for an image that the stage does not provide
 */
export async function brandFile(file: BrandFile): Promise<RawResponse> {
  return {
    headers: {
      "Content-Type": contentTypes[file],
      "Cache-Control": "public, max-age=3600",
      // A browser that opens an SVG as a page must not run anything in it.
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    },
    body: file === "theme.css" ? theme() : await imageOf(file),
  };
}

async function imageOf(file: BrandImage): Promise<Uint8Array | string> {
  // The build puts them next to the bundle.
  if (brand().images.includes(file)) return readFile(new URL(`./${file}`, import.meta.url));
  if (file === "icon.svg") return icon();
  throw new ApiError("NOT_FOUND");
}

/** Returns the colors as custom properties of CSS. The stage's settings guarantee their contrast. */
function theme(): string {
  const { light, dark } = brand().colors;
  return `:root {
  --accent: light-dark(${light}, ${dark});
  --accent-soft: light-dark(${softened(light, softAccents.light)}, ${softened(dark, softAccents.dark)});
}
`;
}

function softened(color: string, { base, share }: { readonly base: string; readonly share: number }): string {
  return `color-mix(in srgb, ${color} ${share * 100}%, ${base})`;
}

/** Returns the first letter of the name on the brand's color. */
function icon(): string {
  const { name, colors } = brand();
  const letter = escapeHtml(name.slice(0, 1).toUpperCase());
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colors.light}"/><text x="16" y="23" font-family="system-ui, sans-serif" font-size="20" font-weight="700" text-anchor="middle" fill="#ffffff">${letter}</text></svg>
`;
}
