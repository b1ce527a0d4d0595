import type * as z from "zod/mini";

import { softAccents, type Brand } from "../../../shared/api/contract/brand.ts";

type Colors = z.infer<typeof Brand>["colors"];

/** The contrast of text that WCAG 2.2 requires at level AA. */
const minContrast = 4.5;

/** The colors of the pages that the brand's color is next to: as text on them, or with them as text on it. */
const neighbors: Readonly<Record<keyof Colors, readonly string[]>> = {
  light: ["#ffffff", "#f0f4f2"],
  dark: ["#06180f", "#0e1412", "#1e2924"],
};

/** Returns a message for each color of a brand that is hard to read on the pages. */
export function contrastProblems(colors: Colors): [theme: keyof Colors, message: string][] {
  return (["light", "dark"] as const).flatMap((theme) => {
    const color = colors[theme];
    const contrasts = [...neighbors[theme], softened(color, theme)].map((each) => contrastOf(color, each));
    const lowest = Math.min(...contrasts);
    if (lowest >= minContrast) return [];
    const problem = `has a contrast of ${lowest.toFixed(1)} on ${theme} pages, below ${minContrast}`;
    return [[theme, `${problem}: choose a ${theme === "light" ? "darker" : "lighter"} color`]];
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

/** Returns the soft version of a color, as `color-mix` in the brand's style sheet does. */
function softened(color: string, theme: keyof Colors): string {
  const { base, share } = softAccents[theme];
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
