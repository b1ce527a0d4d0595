import type { AcceptedMessage } from "../../api/contract/sms.ts";
import type { SendTemplateRequest } from "../../api/contract/templates.ts";
import { acceptMessage, type AcceptOptions } from "../../messages/accept/accept-one.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { messageOf } from "./message.ts";
import { readTemplate } from "./record.ts";

/**
 * Accepts a message with the text of a template.
 * @throws ApiError NOT_FOUND, also for a template of another organization; VALIDATION_ERROR for missing values or an
 *   invalid text; and the errors of `acceptMessage`
 */
export async function sendTemplate(
  organization: OrganizationRecord,
  templateId: string,
  { values, ...request }: SendTemplateRequest,
  options: AcceptOptions = {},
): Promise<AcceptedMessage> {
  const template = await readTemplate(organization.id, templateId);
  const message = messageOf(template.body, values);
  return acceptMessage(organization, { ...request, message }, options);
}
