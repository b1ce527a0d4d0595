import type { CreateCampaignRequest } from "../../api/contract/campaigns.ts";
import { invalidField } from "../../api/contract/errors.ts";
import { findTemplate } from "../templates/record.ts";
import { problemOf } from "../templates/render.ts";

/** Returns the text of a campaign: the given one, or that of its template now. @throws ApiError VALIDATION_ERROR */
export async function textOf(
  organizationId: string,
  { message, templateId }: Pick<CreateCampaignRequest, "message" | "templateId">,
): Promise<string> {
  if (message !== undefined) {
    const problem = problemOf(message);
    if (problem !== undefined) throw invalidField("message", problem);
    return message;
  }
  const template = templateId === undefined ? undefined : await findTemplate(organizationId, templateId);
  if (template === undefined) throw invalidField("templateId", "there is no such template");
  return template.body;
}
