import type { CreateCampaignRequest } from "../../shared/api/contract/campaigns.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { createCampaign } from "./as-organization.ts";

/** Creates contacts of an organization, and a campaign to all of its contacts. @returns the campaign's id */
export async function createCampaignTo(
  organizationId: string,
  contacts: number,
  fields: Partial<CreateCampaignRequest> = {},
): Promise<string> {
  for (let index = 0; index < contacts; index += 1) {
    const phoneNumber = String(15_006_000_000 + index);
    await createContact(organizationId, { phoneNumber, tags: [], attributes: {}, optedOut: false });
  }
  const { id } = await createCampaign(organizationId, {
    name: "Spring",
    message: "hi",
    audience: { all: true },
    senderId: "ACME",
    language: "English",
    messageType: "marketing",
    ...fields,
  });
  return id;
}
