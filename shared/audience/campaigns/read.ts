import type { Campaign } from "../../api/contract/campaigns.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import { findCampaignCounts, readCounts } from "../../messages/counts/counts.ts";
import { keys } from "../../platform/table/keys.ts";
import { readPage } from "../../platform/table/page.ts";
import { usedQuota } from "../../tenancy/organizations/quota.ts";
import { CampaignRecord, toApiCampaign, readCampaign } from "./record.ts";

/**
 * Returns one campaign and its progress.
 * @throws ApiError NOT_FOUND, also for a campaign of another organization
 */
export async function getCampaign(organizationId: string, campaignId: string): Promise<Campaign> {
  const [record, counts] = await Promise.all([
    readCampaign(organizationId, campaignId),
    findCampaignCounts(organizationId, campaignId),
  ]);
  return toApiCampaign(record, counts);
}

/** Returns a page of the organization's campaigns, newest first. */
export async function listCampaigns(organizationId: string, query: PageQuery): Promise<Page<Campaign>> {
  const { rows, meta } = await readPage(
    CampaignRecord,
    { pk: keys.campaign(organizationId, "").pk, newestFirst: true, consistent: true },
    query,
    await usedQuota(organizationId, "campaignCount"),
  );
  const [newest, oldest] = [rows[0], rows.at(-1)];
  if (newest === undefined || oldest === undefined) return { rows: [], meta };
  const { pk, sk: from } = keys.campaignCounts(organizationId, oldest.id);
  const counts = await readCounts({ pk, from, to: keys.campaignCounts(organizationId, newest.id).sk });
  return {
    rows: rows.map((row) =>
      toApiCampaign(
        row,
        counts.find(({ sk }) => sk.endsWith(row.id)),
      ),
    ),
    meta,
  };
}
