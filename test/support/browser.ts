import { access, constants } from "node:fs/promises";
import path from "node:path";

import { chromium, type Browser } from "playwright-core";

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

/** Starts the first browser on the PATH. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findBrowser(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
}
