import { callingCodeOf } from "../../api/contract/written-numbers.ts";
import { UsageRecord } from "../../messages/counts/figures.ts";
import { countriesOfCallingCode } from "../../messages/destinations/numbering-plan.ts";
import { findPriceOverrides } from "../../money/prices/overrides.ts";
import { RateCard } from "../../money/prices/rate-card.ts";
import { findCurrentVersion, readRateCard } from "../../money/prices/record.ts";
import { risesAt, type PriceRise } from "../../money/prices/rises.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { brand } from "../../notices/brand/brand.ts";
import { emailJob } from "../../notices/emails/email-job.ts";
import { onOneLine, type EmailText } from "../../notices/emails/layout.ts";
import { amountText, support } from "../../notices/emails/texts.ts";
import { dayMs, dayOf, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { derivedId } from "../../platform/ids.ts";
import { minScheduledMs, scheduledJob } from "../../platform/jobs/scheduled-job.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { countersOf, usageSortKey } from "../../platform/table/shards.ts";
import type { Put } from "../../platform/table/write.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";

/** The customers of a country are those who sent messages to it in this time. */
const activeDays = 30;

/** Rises of the prices that an organization pays, at a moment. */
interface Rises {
  readonly organizationId: string;
  /** ISO 8601. */
  readonly at: string;
  /** All of that moment, whichever countries the organization sends to. */
  readonly rises: readonly PriceRise[];
}

/** Returns the write that emails rises some days before them, or soon if less time is left. */
export function owedRiseNotice({ organizationId, at, rises }: Rises, noticeDays: number): Put {
  const id = idOf({ organizationId, at, rises });
  const dueMs = Math.max(new Date(at).getTime() - noticeDays * dayMs, now().getTime() + minScheduledMs);
  const job = emailJob(organizationId, { kind: "pricesRise", organizationId, at }, id);
  return scheduledJob({ id, dueAt: new Date(dueMs).toISOString() }, job);
}

/** The same rises have the same id, so that repeated imports cause one email. */
function idOf({ organizationId, at, rises }: Rises): string {
  const prices = rises.map(({ prefix, beforeMicros, afterMicros }) => [prefix, beforeMicros, afterMicros]);
  return derivedId("eml", new Date(at), JSON.stringify([organizationId, prices]));
}

/** The rate card by its version, which never changes, and its rises by the version and the moment. */
export const cards = new TtlCache<RateCard>({ maxKeys: 1 });
export const risesOfCard = new TtlCache<readonly PriceRise[]>({ maxKeys: 2 });

/** The most prices that an email lists. */
const maxListed = 30;

/**
 * Returns the text of a notice, with the rises that concern the organization.
 * @returns undefined if none does, or if the rises are not those that it was queued for
 */
export async function riseText(
  organization: OrganizationRecord,
  { id, at }: { readonly id: string; readonly at: string },
): Promise<EmailText | undefined> {
  const { id: organizationId, name } = organization;
  const rises = await presentRises(organization, at);
  if (idOf({ organizationId, at, rises }) !== id) return undefined;
  const countries = await countriesOf(organizationId);
  const concerned = rises.filter((rise) => rise.isOwn || concerns(rise, countries));
  if (concerned.length === 0) return undefined;
  const listed = concerned.slice(0, maxListed).map(lineOf);
  const more = concerned.length - listed.length;
  const since = `${at.slice(0, "yyyy-mm-ddThh:mm".length).replace("T", " ")} UTC`;
  return {
    subject: `${brand().name}: prices rise on ${dayOf(at)}`,
    paragraphs: [
      `From ${since} on, ${onOneLine(name)} pays more for messages to these numbers. The prices are for a segment, without taxes.`,
      ...listed,
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
    link: { label: "See the present prices", url: `${config.apiUrl()}/console#/prices` },
    closing: `If you have a question, contact ${support()}.`,
  };
}

async function presentRises(organization: OrganizationRecord, at: string): Promise<readonly PriceRise[]> {
  const [version, own] = await Promise.all([findCurrentVersion(), findPriceOverrides(organization)]);
  const read = async (): Promise<RateCard> =>
    version === undefined ? new RateCard("") : readRateCard(version);
  const card = await cards.read(read, String(version));
  if (own !== undefined) return risesAt({ card, own }, at);
  return risesOfCard.read(async () => risesAt({ card }, at), `${version} ${at}`);
}

/** Returns the countries that an organization sent to, by the days that have been counted. */
async function countriesOf(organizationId: string): Promise<ReadonlySet<string>> {
  const wallet = await findWallet(organizationId);
  const countries = new Set<string>();
  if (wallet === undefined) return countries;
  const first = dayOf(new Date(now().getTime() - activeDays * dayMs).toISOString());
  const list = { pk: countersOf(wallet), from: usageSortKey(first), to: usageSortKey("~") };
  for await (const { usage } of itemsIn(UsageRecord, list)) {
    for (const { name } of usage.country) countries.add(name);
  }
  return countries;
}

/** Whether numbers of some countries can have a prefix. */
function concerns({ prefix, country }: PriceRise, countries: ReadonlySet<string>): boolean {
  const code = callingCodeOf(prefix);
  // It begins several calling codes, or the figures have only the sum of the smallest countries.
  if (code === undefined || countries.has("other")) return countries.size > 0;
  const ofCode = countriesOfCallingCode(code);
  if (ofCode.length === 0) return countries.has("none");
  const isOfAll = prefix === code || country === undefined;
  // A longer prefix of the main country, such as 447, can have numbers of others. Those of North America have area codes.
  const isOfMain = country === ofCode[0] && code !== "1";
  if (isOfAll || isOfMain) return ofCode.some((each) => countries.has(each));
  return countries.has(country);
}

function lineOf({ prefix, country, beforeMicros, afterMicros }: PriceRise): string {
  const names = new Intl.DisplayNames("en", { type: "region" });
  const place = country === undefined ? "" : `${names.of(country) ?? country}, `;
  const numbers = prefix === "" ? "all other numbers" : `+${prefix}`;
  return `${place}${numbers}: ${amountText(amountOf(beforeMicros))}, then ${amountText(amountOf(afterMicros))}`;
}
