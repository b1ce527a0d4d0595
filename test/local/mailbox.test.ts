import { expect, inject, it } from "vitest";
import { vi } from "vitest";
import * as z from "zod/mini";

import { Mailbox } from "../../infra/local/mailbox.ts";
import { Customer } from "../support/api.ts";
import { patience } from "../support/patience.ts";

const Emails = z.object({
  data: z.array(z.object({ to: z.array(z.string()), subject: z.string(), text: z.string() })),
});

const evil = `<script>alert("1")</script>`;

function send(mailbox: Mailbox, subject: string, text = "Hello"): void {
  mailbox.add({
    FromEmailAddress: "sms@example.com",
    Destination: { ToAddresses: ["ada@example.com"] },
    Content: { Simple: { Subject: { Data: subject }, Body: { Text: { Data: text }, Html: { Data: "" } } } },
  });
}

function pageOf(mailbox: Mailbox): string {
  return mailbox.pages("/secret").get("/secret")?.().body ?? "";
}

it("shows the sent emails over HTTP, to people and to programs", async () => {
  const { email } = await Customer.register();
  const url = inject("mailboxUrl");
  const found = await vi.waitFor(async () => {
    const { data } = Emails.parse(await (await fetch(`${url}.json`)).json());
    const mine = data.find(({ to }) => to.includes(email));
    if (mine === undefined) throw new Error("it has not come yet");
    return mine;
  }, patience);
  expect(found.subject).toBe("Verify your email");
  const page = await fetch(url);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  const html = await page.text();
  const link = /https?:\S+/.exec(found.text)?.[0] ?? "no link";
  expect(html).toContain(`<a href="${link}">${link}</a>`);
  expect(html).not.toContain("<script");
  // It is not a route of the API.
  expect((await fetch(url, { method: "POST" })).status).toBe(404);
});

it("shows no email to those who do not know its address, such as visitors of a proxy", async () => {
  const { email } = await Customer.register();
  for (const path of ["/mailbox", "/mailbox.json", "/mailbox/", "/mailbox/0123456789abcdef.json"]) {
    expect(await (await fetch(inject("baseUrl") + path)).text(), path).not.toContain(email);
  }
  const page = await (await fetch(`${inject("baseUrl")}/mailbox`)).text();
  expect(page).toContain("<code>npm start</code> prints it");
});

it("keeps the last thousand emails, the newest first", () => {
  const mailbox = new Mailbox();
  for (let count = 1; count <= 1_002; count += 1) send(mailbox, `Email ${count}`);
  expect(mailbox.emails).toHaveLength(1_000);
  expect(mailbox.emails[0]?.subject).toBe("Email 1002");
  expect(mailbox.emails.at(-1)?.subject).toBe("Email 3");
  expect(
    [...pageOf(mailbox).matchAll(/<h2>Email (\d+)/g)].map(([, count]) => Number(count)).slice(0, 2),
  ).toEqual([1_002, 1_001]);
});

it("shows HTML in an email as text, and a link ends where its address ends", () => {
  const mailbox = new Mailbox();
  send(mailbox, evil, `${evil} https://example.com/"onclick="alert(1) javascript:alert(2)`);
  const page = pageOf(mailbox);
  expect(page).not.toContain("<script");
  expect(page).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
  expect([...page.matchAll(/<a [^>]*>/g)].map(([tag]) => tag)).toEqual(['<a href="https://example.com/">']);
});
