import type * as z from "zod/mini";

import type { Brand } from "../../shared/contract/brand.ts";

type Colors = z.infer<typeof Brand>["colors"];

/** The contrast of text that WCAG 2.2 requires at level AA. */
const minContrast = 4.5;

/** The colors of the pages that the brand's color is next to: as text on them, or with them as text on it. */
const neighbors: Readonly<
  Record<keyof Colors, { readonly colors: readonly string[]; readonly soft: number }>
> = {
  light: { colors: ["#ffffff", "#f0f4f2"], soft: 0.12 },
  dark: { colors: ["#06180f", "#0e1412", "#1e2924"], soft: 0.18 },
};

/** Returns a message for each color of a brand that is hard to read on the pages. */
export function contrastProblems(colors: Colors): [theme: keyof Colors, message: string][] {
  return (["light", "dark"] as const).flatMap((theme) => {
    const color = colors[theme];
    const { colors: pages, soft } = neighbors[theme];
    const softened = mix(color, theme === "light" ? "#ffffff" : "#0e1412", soft);
    const contrasts = [...pages, softened].map((each) => contrastOf(color, each));
    const lowest = Math.min(...contrasts);
    if (lowest >= minContrast) return [];
    const advice = theme === "light" ? "choose a darker color" : "choose a lighter color";
    return [
      [theme, `has a contrast of ${lowest.toFixed(1)} on ${theme} pages, below ${minContrast}: ${advice}`],
    ];
  });
}

/** Returns the ratio of contrast of two colors, from 1 to 21. */
function contrastOf(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance of a color, as WCAG defines it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const value = channel / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns a color with a share of it mixed into another one, as CSS does it in sRGB. */
function mix(color: string, base: string, share: number): string {
  const bases = channelsOf(base);
  const mixed = channelsOf(color).map(
    (channel, index) => channel * share + (bases[index] ?? 0) * (1 - share),
  );
  return `#${mixed.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns red, green and blue, from 0 to 255. */
function channelsOf(color: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16));
}
