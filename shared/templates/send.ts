import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { ApiError, invalidField } from "../contract/errors.ts";
import { SendSmsRequest, type AcceptedMessage } from "../contract/sms.ts";
import type { SendTemplateRequest } from "../contract/templates.ts";
import { acceptMessage, type AcceptOptions } from "../messages/accept-one.ts";
import { readTemplate } from "./record.ts";
import { renderTemplate } from "./render.ts";

/**
 * Accepts a message whose text is a template's with values in it.
 * @throws ApiError NOT_FOUND, also for a template of another organization; VALIDATION_ERROR for values that are
 *   missing or make no message; and whatever `acceptMessage` throws
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
      `the message that they make ${message.error.issues[0]?.message ?? "is not valid"}`,
    );
  }
  return message.data;
}
