import type { Campaign } from "../../../shared/contract/campaigns.ts";
import type { Contact } from "../../../shared/contract/contacts.ts";
import { SendSmsRequest } from "../../../shared/contract/sms.ts";
import { segmentsOf } from "../../../shared/messages/segments.ts";
import { contactValues, renderTemplate } from "../../../shared/templates/render.ts";

/*
 * Whom a campaign would reach and what that would cost, computed as the gateway does it: contact by contact, for each has a
 * text of its own length and a number with a price of its own.
 */

export interface AudienceEstimate {
  /** Messages that would be accepted. */
  readonly messages: number;
  readonly segments: number;
  readonly cost: number;
  readonly optedOut: number;
  /** A placeholder has no value for them, or their text becomes too long. */
  readonly unrenderable: number;
  readonly notPriced: number;
}

/** What the reckoning is about. */
export type Plan = Pick<Campaign, "audience" | "language" | "message">;

/** The prices of segments by what numbers begin with. */
export type Prices = ReadonlyMap<string, number>;

/** Sums up what a campaign would come to. */
export function estimateAudience(plan: Plan, contacts: readonly Contact[], prices: Prices): AudienceEstimate {
  let messages = 0;
  let segments = 0;
  let cost = 0;
  let optedOut = 0;
  let unrenderable = 0;
  let notPriced = 0;
  for (const contact of contacts.filter((each) => isOfAudience(plan.audience, each))) {
    const rendered = renderTemplate(plan.message, contactValues(contact));
    const unitPrice = priceOf(contact.phoneNumber, prices);
    if (contact.optedOut) optedOut += 1;
    else if (unitPrice === undefined) notPriced += 1;
    else if (!("text" in rendered) || !SendSmsRequest.shape.message.safeParse(rendered.text).success) {
      unrenderable += 1;
    } else {
      const parts = segmentsOf(rendered.text, { unicode: plan.language === "Unicode" }).segments;
      messages += 1;
      segments += parts;
      cost += parts * unitPrice;
    }
  }
  return { messages, segments, cost, optedOut, unrenderable, notPriced };
}

function isOfAudience({ contactIds, tags }: Plan["audience"], contact: Contact): boolean {
  if (contactIds !== undefined) return contactIds.includes(contact.id);
  return tags === undefined || tags.some((tag) => contact.tags.includes(tag));
}

/** The price for the longest of the prefixes that a number begins with. */
function priceOf(phoneNumber: string, prices: Prices): number | undefined {
  for (let length = phoneNumber.length; length >= 0; length -= 1) {
    const price = prices.get(phoneNumber.slice(0, length));
    if (price !== undefined) return price;
  }
  return undefined;
}
