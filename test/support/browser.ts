import { access, constants, mkdir } from "node:fs/promises";
import path from "node:path";

import axe from "axe-core";
import { chromium, type Browser, type Page } from "playwright-core";
import { test } from "vitest";
import * as z from "zod/mini";

import { isNightly } from "./second-opinions.ts";

/** The headless shell is first, because it takes half of the CPU time of a browser that draws windows. */
const browserNames = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/** The first browser on the PATH. */
async function findBrowser(): Promise<string> {
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    for (const name of browserNames) {
      const file = path.join(folder, name);
      if (
        await access(file, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return file;
    }
  }
  throw new Error(`these tests need one of ${browserNames.join(", ")} on the PATH`);
}

/** The events of a page. */
export interface Watched {
  /** Its requests, such as `GET http://127.0.0.1:3000/docs`. */
  readonly requested: readonly string[];
  /** Errors and warnings, breaches of its security policy among them. */
  readonly complaints: readonly string[];
}

/** Records the events of a page. */
export function watch(page: Page): Watched {
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requested.push(`${request.method()} ${request.url()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  return { requested, complaints };
}

/** Starts the first browser on the PATH. */
async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findBrowser(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}

/** A test with a browser, which the tests of a file share. */
// Vitest reads the names of other fixtures in the pattern.
// oxlint-disable-next-line no-empty-pattern
export const it = test.extend("browser", { scope: "file" }, async ({}, { onCleanup }) => {
  const browser = await launchBrowser();
  onCleanup(async () => browser.close());
  return browser;
});

const Findings = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })),
    }),
  ),
});

/** The findings of axe on a page, each with its places. Without `rules`, axe checks all of them. */
export async function violationsOn(page: Page, rules: readonly string[] = []): Promise<string[]> {
  if (await page.evaluate("globalThis.axe === undefined")) await page.evaluate(axe.source);
  const runOnly = rules.length === 0 ? undefined : rules;
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] });
  const { violations } = Findings.parse(await page.evaluate(`axe.run(${options})`));
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}

/** The folder for screenshots. */
const screensFolder = path.join(".build", "screens");

/** The rules about colors that axe checks by default. */
const colorRules = ["color-contrast", "link-in-text-block"];

/** The widths that the tests check, of a desktop and a phone. */
export const widths = [1280, 360] as const;

/**
 * The faults of a page in light and dark, on a phone and on a desktop: findings of axe, and pages wider than the screen.
 * Dark differs in colors only, so only the rules about colors are checked there, and outside of `NIGHTLY=1` on a desktop only.
 * `SCREENS=1` also takes screenshots.
 */
export async function faultsOn(
  page: Page,
  name: string,
  ofWidths: readonly number[] = widths,
): Promise<string[]> {
  const faults: string[] = [];
  for (const width of ofWidths) {
    await page.setViewportSize({ width, height: 900 });
    const isShort = width !== widths[0] && !isNightly && process.env["SCREENS"] === undefined;
    for (const colorScheme of isShort ? (["light"] as const) : (["dark", "light"] as const)) {
      await page.emulateMedia({ colorScheme });
      const found = await violationsOn(page, colorScheme === "dark" ? colorRules : []);
      const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      const overflowPx = z.number().parse(await page.evaluate(overflow));
      if (overflowPx > 0) found.push(`${overflowPx} px too wide`);
      faults.push(...found.map((each) => `${name}, ${width} px, ${colorScheme}: ${each}`));
      if (process.env["SCREENS"] === undefined) continue;
      await mkdir(screensFolder, { recursive: true });
      const file = path.join(screensFolder, `${name}-${width}-${colorScheme}.png`);
      await page.screenshot({ path: file, fullPage: true });
    }
  }
  await page.setViewportSize({ width: widths[0], height: 900 });
  return faults;
}
