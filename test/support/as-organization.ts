import type { Campaign, CreateCampaignRequest } from "../../shared/api/contract/campaigns.ts";
import type { AcceptedMessage, SendSmsRequest } from "../../shared/api/contract/sms.ts";
import * as campaigns from "../../shared/audience/campaigns/create.ts";
import * as messages from "../../shared/messages/accept/accept-one.ts";
import { findOrganization, OrganizationRecord } from "../../shared/tenancy/organizations/record.ts";

/*
 * Use cases without the API, which reads the organization's record for each call. Tests that open a wallet alone have none.
 */

export async function acceptMessage(
  organizationId: string,
  request: SendSmsRequest,
  options?: messages.AcceptOptions,
): Promise<AcceptedMessage> {
  return messages.acceptMessage(await recordOf(organizationId), request, options);
}

/** Sends a message with a key whose messages are all held. @returns the id of the held message */
export async function holdMessage(
  organizationId: string,
  to: string,
  keyId = "key_01KE0000000000000000000001",
): Promise<string> {
  const limits = { holdAbove: 0, budgetKeyId: keyId };
  const credential = { type: "apiKey", keyId, limits } as const;
  const actor = { organizationId, userId: "usr_1", credential, scopes: ["send"] } as const;
  const request = { to, message: `Hello ${to}`, senderId: "ACME", language: "English" } as const;
  const { id, status } = await acceptMessage(organizationId, request, { actor });
  if (status !== "held") throw new Error(`the message is ${status}`);
  return id;
}

export async function createCampaign(
  organizationId: string,
  request: CreateCampaignRequest,
): Promise<Campaign> {
  return campaigns.createCampaign(await recordOf(organizationId), request);
}

async function recordOf(id: string): Promise<OrganizationRecord> {
  const createdAt = new Date().toISOString();
  const withReplies = { entity: "organization", id, name: id, createdAt, repliesSince: createdAt };
  return (await findOrganization(id)) ?? OrganizationRecord.parse(withReplies);
}
