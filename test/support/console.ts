import { mkdir } from "node:fs/promises";
import path from "node:path";

import axe from "axe-core";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { inject } from "vitest";
import * as z from "zod/mini";

import { password } from "./api.ts";
import { watch, type Watched } from "./browser.ts";

/** The folder for screenshots of the console. */
const screensFolder = path.join(".build", "screens");

export interface Look {
  readonly colorScheme: "dark" | "light";
  readonly width: number;
}

/** The looks that the tests check. */
export const looks: readonly Look[] = (["light", "dark"] as const).flatMap((colorScheme) =>
  [360, 1280].map((width) => ({ colorScheme, width })),
);

/** Four bytes a pixel: red, green, blue, opacity. */
const Pixels = z.object({
  width: z.number(),
  height: z.number(),
  data: z.pipe(
    z.array(z.number()),
    z.transform((bytes) => Uint8Array.from(bytes)),
  ),
});
type Pixels = z.infer<typeof Pixels>;

/** A browser with the console open, and its errors. */
export class ConsoleVisitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly watched: Watched;

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    this.watched = watch(page);
  }

  /** Opens the console without a session. */
  static async arrive(browser: Browser, look: Partial<Look> = {}): Promise<ConsoleVisitor> {
    const { colorScheme = "light", width = 1280 } = look;
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 900 },
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await context.addInitScript({ content: axe.source });
    const visitor = new ConsoleVisitor(context, await context.newPage());
    await visitor.page.goto(`${inject("baseUrl")}/console`);
    await visitor.heading("Log in");
    return visitor;
  }

  /** Opens the console and logs a customer in. */
  static async arriveAs(
    browser: Browser,
    { email }: { email: string },
    look: Partial<Look> = {},
  ): Promise<ConsoleVisitor> {
    const visitor = await ConsoleVisitor.arrive(browser, look);
    await visitor.login(email);
    return visitor;
  }

  async login(email: string): Promise<void> {
    await this.page.getByLabel("Email").fill(email);
    await this.page.getByLabel("Password").fill(password);
    await this.page.getByRole("button", { name: "Log in" }).click();
    await this.heading("Overview");
  }

  /** Waits for a view by its heading. */
  async heading(name: RegExp | string): Promise<void> {
    await this.page.getByRole("heading", { level: 1, name, exact: typeof name === "string" }).waitFor();
  }

  /** Opens a view by its address, and waits until its data is loaded. */
  async open(address: string, heading: RegExp | string): Promise<void> {
    await this.page.goto(`${inject("baseUrl")}/console#/${address}`);
    await this.heading(heading);
    await this.settle();
  }

  /** Waits until all data is loaded. */
  async settle(): Promise<void> {
    await this.page.locator("p[role=status] progress").first().waitFor({ state: "detached" });
  }

  /** The findings of axe on the current page, each with its places. */
  async violations(): Promise<string[]> {
    const found: unknown = await this.page.evaluate("axe.run()");
    const { violations } = z
      .object({
        violations: z.array(
          z.object({
            id: z.string(),
            nodes: z.array(z.object({ html: z.string(), failureSummary: z.string() })),
          }),
        ),
      })
      .parse(found);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
    );
  }

  /** By how many pixels the page is wider than the screen. */
  async overflowPx(): Promise<number> {
    return z
      .number()
      .parse(
        await this.page.evaluate(
          "document.documentElement.scrollWidth - document.documentElement.clientWidth",
        ),
      );
  }

  async screenshot(name: string, { colorScheme, width }: Look): Promise<void> {
    await mkdir(screensFolder, { recursive: true });
    await this.page.screenshot({
      path: path.join(screensFolder, `${name}-${width}-${colorScheme}.png`),
      fullPage: true,
    });
  }

  /** The pixels of an element. */
  async pixelsOf(shown: Locator): Promise<Pixels> {
    const png = (await shown.screenshot()).toString("base64");
    return Pixels.parse(
      await this.page.evaluate(
        `(async () => {
          const image = new Image();
          image.src = "data:image/png;base64,${png}";
          await image.decode();
          const { width, height } = image;
          const context = new OffscreenCanvas(width, height).getContext("2d");
          context.drawImage(image, 0, 0);
          return { width, height, data: [...context.getImageData(0, 0, width, height).data] };
        })()`,
      ),
    );
  }

  /** @throws Error when the page had an error, such as a violation of its security policy */
  async leave(): Promise<void> {
    await this.context.close();
    // The browser also complains about each error response. The console shows these itself.
    const complaints = this.watched.complaints.filter((each) => !each.startsWith("Failed to load resource"));
    if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join("; ")}`);
  }
}
