import type { Browser, Page } from "playwright-core";
import { expect, inject } from "vitest";

import { Customer } from "../support/api.ts";
import { faultsOn, it as withBrowser, watch, widths, type Watched } from "../support/browser.ts";

/** A test that opens pages of the documentation, each with what it requested and reported. */
const it = withBrowser.extend(
  "open",
  ({ browser }) =>
    async (
      path: string,
      options: Parameters<Browser["newPage"]>[0] = {},
    ): Promise<{ page: Page; watched: Watched }> => {
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
      const watched = watch(page);
      await page.goto(`${inject("baseUrl")}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      return { page, watched };
    },
);

async function searchFor(page: Page, words: string): Promise<void> {
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill(words);
}

it.for([
  "/docs",
  "/docs/guides/webhooks",
  "/docs/operations/sendSms",
  "/docs/operations/listSms",
  "/docs/errors",
  "/docs/errors/INSUFFICIENT_BALANCE",
  "/docs/events/message.sent",
  "/docs/changelog",
])("%s is accessible and fits", async (path, { open }) => {
  const { page, watched } = await open(path);
  expect(await faultsOn(page, path.slice(1).replaceAll("/", "-"))).toEqual([]);
  expect(watched.complaints).toEqual([]);
  await page.close();
});

it("loads everything from the gateway itself, within its own security policy", async ({ open }) => {
  const { page, watched } = await open("/docs/operations/sendSms");
  await page.waitForLoadState("networkidle");
  const requested = watched.requested.map((each) =>
    each.replace(inject("baseUrl"), "").replace(/-[0-9a-f]{12}\d+/, ""),
  );
  expect(requested.filter((each) => !each.endsWith("icon.svg")).toSorted()).toEqual([
    "GET /brand/theme.css",
    "GET /docs/main.css",
    "GET /docs/main.js",
    "GET /docs/operations/sendSms",
  ]);
  expect(watched.complaints).toEqual([]);
  await page.close();
});

it("is readable without scripts: text, samples of another language, and the menu of a phone", async ({
  open,
}) => {
  const { page } = await open("/docs/operations/sendSms", {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  });
  await page.getByText("PHP", { exact: true }).click();
  await page.getByText("curl_setopt_array").waitFor();
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("link", { name: "Quickstart" }).click();
  await page.getByRole("heading", { level: 1, name: "Quickstart" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/docs/guides/quickstart");
  await page.close();
});

it("finds an operation, an error and a part of a guide", async ({ open }) => {
  const { page, watched } = await open("/docs");
  await searchFor(page, "rotate secret");
  await page.getByRole("link", { name: /Replace the secret/ }).waitFor();
  await page.getByRole("searchbox").fill("insufficient balance");
  await page.getByRole("link", { name: /^INSUFFICIENT_BALANCE/ }).waitFor();
  for (const [words, title] of [
    ["two-way", /inbound/i],
    ["bulk", /campaign/i],
    ["leaked key", /Revoke/],
    ["delivery report", /receipt/i],
    ["appointment reminder", /Send messages|Schedule/],
    ["phone number format", /Numbers|Send/],
    ["zzzzqq campaign", /campaign/i],
  ] as const) {
    await page.getByRole("searchbox").fill(words);
    await page.getByRole("listitem").filter({ hasText: title }).first().waitFor();
  }
  await page.getByRole("searchbox").fill("postman collection");
  await page.getByRole("status").getByText("1 result", { exact: true }).waitFor();
  await page.getByRole("searchbox").fill("send a message");
  await page.getByRole("link", { name: /^Send a message sms/ }).click();
  await page.waitForURL(/\/docs\/operations\/sendSms$/);
  expect(watched.complaints).toEqual([]);
  await page.close();
});

it.for(widths)("breaks an error code after an underscore only, at %i pixels", async (width, { open }) => {
  const lines = new Map<string, number>();
  for (const path of ["/docs/operations/sendSms", "/docs/errors", "/docs/guides/errors"]) {
    const { page } = await open(path, { viewport: { width, height: 900 } });
    const words = await page.locator("td code").evaluateAll((codes) =>
      codes.flatMap((code) =>
        [...code.childNodes].map((word): [string, number] => {
          const range = document.createRange();
          range.selectNodeContents(word);
          return [word.textContent ?? "", range.getClientRects().length];
        }),
      ),
    );
    for (const [word, count] of words) if (/^[A-Z]+_?$/.test(word)) lines.set(`${path} ${word}`, count);
    await page.close();
  }
  expect(lines.size).toBeGreaterThan(100);
  expect([...lines].filter(([, count]) => count > 1)).toEqual([]);
});

it("remembers the language of samples on other pages", async ({ open }) => {
  const { page } = await open("/docs/operations/sendSms");
  await page.getByText("Go", { exact: true }).click();
  await page.getByText("http.NewRequest").waitFor();
  await page.goto(`${inject("baseUrl")}/docs/guides/webhooks`);
  await page.getByText("func IsFromGateway").waitFor();
  expect(await page.getByText("def is_from_gateway").isVisible()).toBe(false);
  await page.close();
});

it("sends a request with the reader's own key, and keeps the key in the tab", async ({ open }) => {
  const { token } = await Customer.register({ balance: 5 });
  const { page, watched } = await open("/docs/operations/sendSms");
  await page.getByLabel("API key or session token").fill(token);
  await page
    .getByRole("textbox", { name: "Body" })
    .fill('{"to":"15005550000","message":"hello","senderId":"ACME"}');
  await page.getByRole("button", { name: "Send request" }).click();
  const result = page.locator(".result");
  await result.getByText(/^202 Accepted/).waitFor();
  const [, id = ""] = /"id": "(msg_\w+)"/.exec(await result.innerText()) ?? [];
  await page.goto(`${inject("baseUrl")}/docs/operations/getSms`);
  await page.getByLabel("id", { exact: true }).fill(id);
  await page.getByRole("button", { name: "Send request" }).click();
  await result.getByText(/^200 OK/).waitFor();
  expect(await result.innerText()).toContain('"message": "hello"');
  expect(watched.complaints).toEqual([]);
  await page.close();
});
