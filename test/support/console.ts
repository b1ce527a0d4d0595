import type { Browser, BrowserContext, Download, Locator, Page } from "playwright-core";
import { inject, vi } from "vitest";
import * as z from "zod/mini";

import { password } from "./api.ts";
import { it as withBrowser, violationsOn, watch, widths, type Watched } from "./browser.ts";
import { patience } from "./patience.ts";

/** Someone with a login. */
interface Person {
  readonly email: string;
}

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
class ConsoleVisitor {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly watched: Watched;

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    this.watched = watch(page);
  }

  /** Opens a page of its own. */
  static async create(browser: Browser): Promise<ConsoleVisitor> {
    const context = await browser.newContext({
      colorScheme: "light",
      viewport: { width: widths[0], height: 900 },
      locale: "en-GB",
      timezoneId: "Europe/Berlin",
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    return new ConsoleVisitor(context, await context.newPage());
  }

  /** Begins the session of a person in this browser, as the form for logging in does. */
  async beginSession({ email }: Person): Promise<void> {
    const baseUrl = inject("baseUrl");
    // A page of the gateway's origin, without the console.
    const blank = `${baseUrl}/blank`;
    await this.page.route(blank, async (route) => route.fulfill({ contentType: "text/html", body: "" }));
    await this.page.goto(blank);
    const init = {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Console": "new" },
      body: JSON.stringify({ email, password }),
    };
    const status = await this.page.evaluate(
      `fetch("/v1/auth/console-session", ${JSON.stringify(init)}).then(({ status }) => status)`,
    );
    if (status !== 201) throw new Error(`the log-in of ${email} failed with ${String(status)}`);
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

  /** Changes the page of the console from now on, as the page of another stage differs. */
  async replaceInPage(text: string, replacement: string): Promise<void> {
    await this.page.route("**/console", async (route) => {
      const response = await route.fetch();
      const body = await response.text();
      if (!body.includes(text)) throw new Error(`the page does not contain ${text}`);
      await route.fulfill({ response, body: body.replace(text, replacement) });
    });
    await this.page.reload();
  }

  /** Presses a button, and the button with the same name in its dialog. */
  async confirm(name: string, button = this.page.getByRole("button", { name, exact: true })): Promise<void> {
    await button.first().click();
    await this.page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  }

  /** Chooses an item of the menu of a table row, and confirms it. */
  async choose(row: string, item: string): Promise<void> {
    await this.page.getByRole("button", { name: `Actions for ${row}` }).click();
    await this.confirm(item, this.page.getByRole("menuitem", { name: item }));
  }

  /** Fills in the form that sends a message. */
  async fillMessage(to: string, message: string): Promise<void> {
    await this.page.getByLabel("To", { exact: true }).fill(to);
    await this.page.getByLabel("From").fill("ACME");
    await this.page.getByLabel("Message", { exact: true }).fill(message);
  }

  /** Enters a card on the page of the payment provider. */
  async enterCard(number: string): Promise<void> {
    await this.page.getByLabel("Card number").fill(number);
    await this.page.getByLabel("Expiry (MM/YY)").fill("12/40");
    await this.page.getByLabel("CVC").fill("123");
    await this.page.getByLabel("Name on card").fill("Ada Lovelace");
    await this.page.getByRole("button", { name: /^(Pay|Save card)/ }).click();
  }

  /** Presses a button, and returns the file that the page saves. */
  async save(button: string): Promise<Download> {
    const saved = this.page.waitForEvent("download");
    await this.page.getByRole("button", { name: button, exact: true }).click();
    return saved;
  }

  /** Exports a list, whose Excel file the page saves by itself, and saves it once more as CSV. */
  async exportCsv(): Promise<Download> {
    await this.save("Export");
    return this.saveAsCsv();
  }

  async saveAsCsv(): Promise<Download> {
    await this.page.getByLabel("Save as").selectOption("CSV with commas");
    return this.save("Save");
  }

  /** Waits until an element with this text or name has the focus. */
  async focusOn(name: string): Promise<void> {
    await vi.waitFor(async () => {
      const focused = await this.focused();
      if (focused !== name) throw new Error(`${String(focused)} has the focus`);
    }, patience);
  }

  /** The name of the focused field, or else the text of the focused element. */
  async focused(): Promise<unknown> {
    return this.page.evaluate("document.activeElement.name || document.activeElement.textContent");
  }

  /** The findings of axe on the current page, each with its places. */
  async violations(): Promise<string[]> {
    return violationsOn(this.page);
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

interface Arrivals {
  /** Opens the console without a session. */
  readonly arrive: () => Promise<ConsoleVisitor>;
  /** Opens a view of the console in the session of a person. */
  readonly arriveAs: (person: Person, address?: string, heading?: RegExp | string) => Promise<ConsoleVisitor>;
}

/** A test with people at the console. They leave at its end, which fails the test if a page had an error. */
export const it = withBrowser.extend<Arrivals & { visitors: ConsoleVisitor[] }>({
  visitors: async ({ task }, use) => {
    const visitors: ConsoleVisitor[] = [];
    await use(visitors);
    if (task.result?.state === "fail")
      await visitors.at(-1)?.page.screenshot({ path: ".build/screens/failed.png" });
    for (const visitor of visitors) await visitor.leave();
  },
  arrive: async ({ browser, visitors }, use) =>
    use(async () => {
      const visitor = await ConsoleVisitor.create(browser);
      visitors.push(visitor);
      await visitor.open("", "Log in");
      return visitor;
    }),
  arriveAs: async ({ browser, visitors }, use) =>
    use(async (person, address = "", heading = "Overview") => {
      const visitor = await ConsoleVisitor.create(browser);
      visitors.push(visitor);
      await visitor.beginSession(person);
      await visitor.open(address, heading);
      return visitor;
    }),
});
