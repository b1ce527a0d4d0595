import { brand } from "../../notices/brand/brand.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { onOneLine, type EmailText } from "../../notices/emails/layout.ts";
import { amountText, support } from "../../notices/emails/texts.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { derivedId } from "../../platform/ids.ts";
import { minScheduledMs, scheduledJob } from "../../platform/jobs/scheduled-job.ts";
import type { Put } from "../../platform/table/write.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { amountOf } from "../wallet/money.ts";
import { findPriceOverrides } from "./overrides.ts";
import { RateCard } from "./rate-card.ts";
import { findCurrentVersion, readRateCard } from "./record.ts";
import { risesAt, type PaidPrices, type PriceRise } from "./rises.ts";

/** The rises of an organization's prices at a moment. */
interface Rises {
  readonly organizationId: string;
  /** ISO 8601. */
  readonly at: string;
  /** The countries that it sends to; all by default. */
  readonly countries?: string[] | undefined;
}

/**
 * Returns the write that emails a rise of prices some days before it, or soon if less time is left.
 * @returns undefined if none of these prices rises
 */
export function owedRiseNotice(of: Rises, prices: PaidPrices, noticeDays: number): Put | undefined {
  const rises = risesAt(prices, of.at, of.countries);
  if (rises.length === 0) return undefined;
  const id = idOf(of, rises);
  const dueMs = Math.max(new Date(of.at).getTime() - noticeDays * dayMs, now().getTime() + minScheduledMs);
  const job = emailJob(of.organizationId, { kind: "pricesRise", ...of }, id);
  return scheduledJob({ id, dueAt: new Date(dueMs).toISOString() }, job);
}

/** The same rises have the same id, so that repeated imports cause one email. */
function idOf({ organizationId, at }: Rises, rises: readonly PriceRise[]): string {
  return derivedId("eml", new Date(at), JSON.stringify([organizationId, rises]));
}

/** The most prices that an email lists. */
const maxListed = 30;

/** Returns the text of a notice; undefined if the rises are not those that it was queued for. */
export async function riseText(name: string, emailId: string, of: Rises): Promise<EmailText | undefined> {
  const [version, organization] = await Promise.all([
    findCurrentVersion(),
    findOrganization(of.organizationId, { consistent: true }),
  ]);
  if (organization === undefined) return undefined;
  const own = await findPriceOverrides(organization);
  const card = version === undefined ? new RateCard("") : await readRateCard(version);
  const rises = risesAt({ card, own }, of.at, of.countries);
  if (rises.length === 0 || idOf(of, rises) !== emailId) return undefined;
  const listed = rises.slice(0, maxListed).map(lineOf);
  const more = rises.length - listed.length;
  const since = `${of.at.slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")} UTC`;
  return {
    subject: `${brand().name}: prices rise on ${of.at.slice(0, "yyyy-mm-dd".length)}`,
    paragraphs: [
      `From ${since} on, ${onOneLine(name)} pays more for messages to these numbers. The prices are for a segment, without taxes.`,
      ...listed,
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
    link: { label: "See the present prices", url: `${config.apiUrl()}/console#/prices` },
    closing: `All other prices stay. If you have a question, contact ${support()}.`,
  };
}

function lineOf({ prefix, country, beforeMicros, afterMicros }: PriceRise): string {
  const place =
    country === undefined
      ? ""
      : `${new Intl.DisplayNames("en", { type: "region" }).of(country) ?? country}, `;
  const numbers = prefix === "" ? "all other numbers" : `+${prefix}`;
  return `${place}${numbers}: ${amountText(amountOf(beforeMicros))}, then ${amountText(amountOf(afterMicros))}`;
}
