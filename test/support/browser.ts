import { access, constants } from "node:fs/promises";
import path from "node:path";

import { chromium, type Browser, type Page } from "playwright-core";

const browserNames = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

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
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findBrowser(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}
