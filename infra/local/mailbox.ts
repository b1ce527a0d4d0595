import { randomUUID } from "node:crypto";

import * as z from "zod/mini";

import { newSecretPath } from "./loopback.ts";
import { escapeHtml, htmlPage, pageHeaders, type LocalPage } from "./pages.ts";

/** The number of emails that are kept; older ones are deleted. */
const maxEmails = 1_000;

/** An email that a function has sent. */
export interface SentEmail {
  readonly id: string;
  readonly sentAt: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const Content = z.object({ Data: z.string() });

/** The requests to SES that the gateway sends. Others are not supported. */
const SendEmail = z.strictObject({
  FromEmailAddress: z.string(),
  ConfigurationSetName: z.optional(z.string()),
  Destination: z.strictObject({ ToAddresses: z.array(z.string()) }),
  Content: z.strictObject({
    Simple: z.object({ Subject: Content, Body: z.object({ Text: Content, Html: Content }) }),
  }),
});

const mailboxPath = "/mailbox";

/** Returns the path of the mailbox, which is that of an earlier address if there is one. */
export function mailboxPathOf(earlier: string | undefined): string {
  return earlier === undefined ? mailboxPath + newSecretPath() : new URL(earlier).pathname;
}

/** Emulates SES and the mailboxes of all recipients. It keeps emails until the gateway ends. */
export class Mailbox {
  readonly #emails: SentEmail[] = [];

  /** Adds the email of a request to SES. @returns its id */
  add(request: unknown): string {
    const { FromEmailAddress, Destination, Content: content } = SendEmail.parse(request);
    const { Subject, Body } = content.Simple;
    const id = randomUUID();
    this.#emails.unshift({
      id,
      sentAt: new Date().toISOString(),
      from: FromEmailAddress,
      to: Destination.ToAddresses,
      subject: Subject.Data,
      text: Body.Text.Data,
      html: Body.Html.Data,
    });
    this.#emails.splice(maxEmails);
    return id;
  }

  /** The newest first. */
  get emails(): readonly SentEmail[] {
    return this.#emails;
  }

  /**
   * Returns the pages of the mailbox by their paths: one for people, one for programs. The links of the emails reset
   * passwords, so the paths are secret.
   */
  pages(secretPath: string): ReadonlyMap<string, () => LocalPage> {
    return new Map([
      [mailboxPath, pageWithoutAddress],
      [secretPath, () => this.#page()],
      [`${secretPath}.json`, () => jsonPage({ data: this.#emails })],
    ]);
  }

  #page(): LocalPage {
    const emails =
      this.#emails.length === 0
        ? "<p>The gateway has sent no email since it started.</p>"
        : this.#emails.map(article).join("\n");
    return htmlPage({
      title: "Mailbox",
      style,
      body: `<h1>Mailbox</h1>
<p>All emails that this gateway has sent, the newest first. None has left this machine.</p>
${emails}`,
    });
  }
}

function pageWithoutAddress(): LocalPage {
  const body = "<h1>Mailbox</h1>\n<p>Its address is secret. <code>npm start</code> prints it.</p>";
  return htmlPage({ title: "Mailbox", style, body });
}

const style = `
body { font-family: sans-serif; line-height: 1.5; margin: 2em auto; max-width: 48em; padding: 0 1em; }
article { border-top: 1px solid #ccc; padding: 0.5em 0 1em; }
h2 { font-size: 1.1em; margin-bottom: 0; }
.meta { color: #555; margin: 0; }
pre { font: inherit; overflow-wrap: anywhere; white-space: pre-wrap; }
`;

function jsonPage(content: unknown): LocalPage {
  const headers = { ...pageHeaders, "content-type": "application/json" };
  return { headers, body: JSON.stringify(content) };
}

function article({ sentAt, from, to, subject, text }: SentEmail): string {
  return `<article>
<h2>${escapeHtml(subject)}</h2>
<p class="meta">${escapeHtml(`${sentAt} from ${from} to ${to.join(", ")}`)}</p>
<pre>${withLinks(text)}</pre>
</article>`;
}

/** Returns a text as HTML with links. */
function withLinks(text: string): string {
  return text
    .split(/(https?:\/\/[^\s<>"']+)/)
    .map((part, index) => {
      const escaped = escapeHtml(part);
      return index % 2 === 0 ? escaped : `<a href="${escaped}">${escaped}</a>`;
    })
    .join("");
}
