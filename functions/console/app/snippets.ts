import { samplesOf } from "../../../shared/api/openapi/samples.ts";

const message = { to: "15005550007", message: "Hello from your server", senderId: "ACME" };

/** The code samples that send a message, as the documentation has them. */
export const sendSamples = samplesOf({
  operationId: "sendSms",
  method: "POST",
  path: "/v1/sms/send",
  security: [{ bearer: ["send"] }],
  requestBody: { required: true, content: { "application/json": { schema: {}, example: message } } },
});

/**
 * Returns the commands that set the variables of the samples.
 * @param secret has only letters, digits and underscores, and needs no escaping
 */
export function variablesFor(baseUrl: string, secret: string): string {
  return `export SMS_GATEWAY_URL="${baseUrl}"\nexport SMS_GATEWAY_KEY="${secret}"\n`;
}
