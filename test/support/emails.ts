import { randomUUID } from "node:crypto";

import { inject, vi } from "vitest";
import * as z from "zod/mini";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import type { SentEmail } from "../../infra/local/mailbox.ts";
import { functionNamed } from "./functions.ts";
import { patience } from "./patience.ts";

/** The emails that a gateway has sent to an address, the newest first. */
export function emailsTo({ emails }: LocalGateway, address: string): SentEmail[] {
  return emails.filter(({ to }) => to.includes(address));
}

/**
 * Waits until an address has received a number of emails.
 * @returns the newest
 */
export async function waitForEmail(gateway: LocalGateway, address: string, count = 1): Promise<SentEmail> {
  return vi.waitFor(() => {
    const emails = emailsTo(gateway, address);
    const [newest] = emails;
    if (newest === undefined || emails.length < count) {
      throw new Error(`${emails.length} of ${count} emails have come`);
    }
    return newest;
  }, patience);
}

/**
 * Waits until an address has received a number of emails with a subject.
 * @returns the newest
 */
export async function waitForSubject(
  gateway: LocalGateway,
  address: string,
  subject: string,
  count = 1,
): Promise<SentEmail> {
  return vi.waitFor(() => {
    const found = emailsTo(gateway, address).filter((email) => email.subject === subject);
    const [newest] = found;
    if (newest === undefined || found.length < count) {
      throw new Error(`${found.length} of ${count} emails have come: ${subject}`);
    }
    return newest;
  }, patience);
}

const Mailbox = z.object({
  data: z.array(z.object({ to: z.array(z.string()), subject: z.string(), text: z.string() })),
});

/** The link in an email with a subject that the gateway of all tests has sent to an address, once it has come. */
export async function linkIn(to: string, subject: string): Promise<string> {
  return vi.waitFor(async () => {
    const { data } = Mailbox.parse(await (await fetch(`${inject("mailboxUrl")}.json`)).json());
    const found = data.find((email) => email.to.includes(to) && email.subject === subject);
    const link = /https?:\S+/.exec(found?.text ?? "")?.[0];
    if (link === undefined) throw new Error("the email has not come yet");
    return link;
  }, patience);
}

/** The token in the link of an email. */
export function tokenIn({ text }: SentEmail): string {
  const token = /\/account#\w+=([^\s~]+)/.exec(text)?.[1];
  if (token === undefined) throw new Error("the email has no link");
  return token;
}

/** Brings jobs for emails again, as the queue does when the function that worked on them has failed. */
export async function bringAgain(gateway: LocalGateway, ...jobs: readonly unknown[]): Promise<unknown> {
  const Records = jobs.map((job) => ({
    messageId: randomUUID(),
    body: JSON.stringify(job),
    attributes: {},
  }));
  return functionNamed(gateway, "SendEmail").invoke({ Records });
}
