import { SendEmailCommand, Ses } from "../../platform/aws/ses.ts";
import { config } from "../../platform/config.ts";
import type { OutgoingEmail } from "./layout.ts";

const client = new Ses({ timeLimits: { requestMs: 5_000 } });

/**
 * Submits an email to SES.
 * @param from the stage's address
 * @throws Error when SES does not accept it, or its response is lost
 */
export async function sendWithSes(from: string, { to, subject, text, html }: OutgoingEmail): Promise<void> {
  const content = (Data: string): { Data: string; Charset: string } => ({ Data, Charset: "UTF-8" });
  await client.send(
    new SendEmailCommand({
      FromEmailAddress: `${headerText(config.emailName())} <${from}>`,
      ConfigurationSetName: config.emailConfigurationSet(),
      Destination: { ToAddresses: [to] },
      Content: {
        Simple: { Subject: content(subject), Body: { Text: content(text), Html: content(html) } },
      },
    }),
  );
}

/** The most bytes of an encoded word, which has 75 characters with its frame (RFC 2047, 2). */
const maxWordBytes = 45;

/** Returns a name as headers of emails have it: quoted, or encoded if it has characters beyond ASCII (RFC 2047). */
export function headerText(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `"${name}"`;
  const words: string[] = [""];
  for (const character of name) {
    const word = `${words.at(-1)}${character}`;
    if (Buffer.byteLength(word) > maxWordBytes) words.push(character);
    else words[words.length - 1] = word;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join(" ");
}
