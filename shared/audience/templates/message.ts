import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { SendSmsRequest } from "../../api/contract/sms.ts";
import { renderTemplate } from "./render.ts";

/**
 * Returns the text of a template with values.
 * @throws ApiError VALIDATION_ERROR for missing values, or an invalid text
 */
export function messageOf(body: string, values: Readonly<Record<string, string>>): string {
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
