import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { SendSmsRequest, type AcceptedMessage } from "../../api/contract/sms.ts";
import type { SendTemplateRequest } from "../../api/contract/templates.ts";
import { acceptMessage, type AcceptOptions } from "../../messages/accept/accept-one.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { readTemplate } from "./record.ts";
import { renderTemplate } from "./render.ts";

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

function messageOf(body: string, values: Readonly<Record<string, string>>): string {
  const rendered = renderTemplate(body, values);
  if ("missing" in rendered) {
    throw new ApiError("VALIDATION_ERROR", {
      details: rendered.missing.map((name) => ({ path: `values.${name}`, message: "is missing" })),
    });
  }
  const message = SendSmsRequest.shape.message.safeParse(rendered.text);
  if (!message.success) {
    throw invalidField(
      "values",
      `the resulting message ${message.error.issues[0]?.message ?? "is not valid"}`,
    );
  }
  return message.data;
}
