import type { Campaign } from "../../../shared/api/contract/campaigns.ts";
import type { Contact } from "../../../shared/api/contract/contacts.ts";
import { SendSmsRequest } from "../../../shared/api/contract/sms.ts";
import { contactValues, renderTemplate } from "../../../shared/audience/templates/render.ts";
import { segmentsOf } from "../../../shared/messages/message/segments.ts";

/*
 * The reach and cost of a campaign. They are calculated contact by contact, as the gateway does it, because each contact has
 * its own text length and price.
 */

export interface AudienceEstimate {
  readonly messages: number;
  readonly segments: number;
  readonly cost: number;
  readonly optedOut: number;
  /** Contacts with a placeholder value missing, or with a text that is too long. */
  readonly unrenderable: number;
  readonly notPriced: number;
}

export type Plan = Pick<Campaign, "audience" | "language" | "message">;

/** Prices per segment by number prefix; undefined for prefixes to which nothing is sent now. */
export type Prices = ReadonlyMap<string, number | undefined>;

/** Estimates a campaign's messages and cost. */
export function estimateAudience(plan: Plan, contacts: readonly Contact[], prices: Prices): AudienceEstimate {
  const sum = { messages: 0, segments: 0, cost: 0, optedOut: 0, unrenderable: 0, notPriced: 0 };
  for (const contact of contacts.filter((each) => isOfAudience(plan.audience, each))) {
    const rendered = renderTemplate(plan.message, contactValues(contact));
    const unitPrice = priceOf(contact.phoneNumber, prices);
    if (contact.optedOut) sum.optedOut += 1;
    else if (unitPrice === undefined) sum.notPriced += 1;
    else if (!("text" in rendered) || !SendSmsRequest.shape.message.safeParse(rendered.text).success) {
      sum.unrenderable += 1;
    } else {
      const parts = segmentsOf(rendered.text, { unicode: plan.language === "Unicode" }).segments;
      sum.messages += 1;
      sum.segments += parts;
      sum.cost += parts * unitPrice;
    }
  }
  return sum;
}

/** Returns the first contact that gets the campaign, and the text for that contact. */
export function sampleOf(
  { audience, message }: Plan,
  contacts: readonly Contact[],
): { readonly contact: Contact; readonly text: string } | undefined {
  for (const contact of contacts) {
    if (contact.optedOut || !isOfAudience(audience, contact)) continue;
    const rendered = renderTemplate(message, contactValues(contact));
    if ("text" in rendered) return { contact, text: rendered.text };
  }
  return undefined;
}

export function isOfAudience({ contactIds, tags }: Plan["audience"], contact: Contact): boolean {
  if (contactIds !== undefined) return contactIds.includes(contact.id);
  return tags === undefined || tags.some((tag) => contact.tags.includes(tag));
}

/** The price of the longest matching prefix. */
function priceOf(phoneNumber: string, prices: Prices): number | undefined {
  for (let length = phoneNumber.length; length >= 0; length -= 1) {
    const prefix = phoneNumber.slice(0, length);
    if (prices.has(prefix)) return prices.get(prefix);
  }
  return undefined;
}
