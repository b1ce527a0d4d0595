import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import rules from "./sender-rules.json" with { type: "json" };

export const SenderRule = namedObject("SenderRule", {
  country: about(z.string(), "The ISO 3166-1 code of the recipient's country."),
  alpha: about(
    namedEnum("AlphaSenders", ["yes", "registered", "never"]),
    "Whether networks of the country accept letters as the sender: always, after a registration with them, or never.",
  ),
  rule: about(z.string(), "The rule in words."),
  source: about(z.url(), "The public page that states the rule."),
  date: about(z.iso.date(), "The day on which the page was read."),
});
export type SenderRule = z.infer<typeof SenderRule>;

const rulesByCountry: Readonly<Record<string, object | undefined>> = rules;

/** Returns the rule of a country for senders with letters; undefined if it is not known. */
export function senderRuleOf(country: string | undefined): SenderRule | undefined {
  const found = country === undefined ? undefined : rulesByCountry[country];
  return found === undefined ? undefined : SenderRule.parse({ country, ...found });
}

/** Returns the known rules of all countries, by the code of the country. */
export function allSenderRules(): SenderRule[] {
  return Object.keys(rules).flatMap((country) => senderRuleOf(country) ?? []);
}
