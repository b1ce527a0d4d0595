import { config } from "../../platform/config.ts";
import { brand } from "../brand/brand.ts";
import type { Stopped } from "./email-kinds.ts";
import { onOneLine, type EmailText } from "./layout.ts";
import { support } from "./texts.ts";

/*
 * The texts of emails about what the operator has stopped. The reason is for other operators, and no text has it.
 */

export function sessionsEndedText(): EmailText {
  return {
    subject: "You were logged out everywhere",
    paragraphs: [
      `The operator has ended all sessions of your account at ${brand().name}. You can log in again. API keys keep working.`,
    ],
    closing: `If someone else may know your password, set a new one. For the reason, contact ${support()}.`,
  };
}

/**
 * @param name the organization's
 * @param id what the operator has stopped
 */
export function stoppedText(name: string, what: Exclude<Stopped, "sessions">, id: string): EmailText {
  const texts = {
    apiKey: [
      "an API key",
      "Requests with it, and with keys that were made with it, are rejected.",
      "api-keys",
    ],
    hook: ["a login hook", "It sends no codes any more.", "hooks"],
    webhook: ["a webhook", "It gets no events until you enable it again.", "webhooks"],
  } as const;
  const [noun, effect, view] = texts[what];
  return {
    subject: `${noun.replace("a", "A")} was disabled`,
    paragraphs: [`${brand().name} has disabled ${noun} of ${onOneLine(name)} (${id}). ${effect}`],
    link: { label: "Open the console", url: `${config.apiUrl()}/console#/${view}` },
    closing: `For the reason, contact ${support()}.`,
  };
}
