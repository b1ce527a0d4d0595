import type { WebhookRecord } from "./record.ts";

/*
 * The calls to the `callbackUrl`s of messages. Those of an organization are one endpoint without a record of its own, and
 * those of its test messages are another. It has a secret, and deliveries with the URL of each. Its slots and failures are
 * those of each host, so that a host that hangs delays no other one.
 */

/** The endpoint's name in paths of the API. */
export const callbacksName = "callbacks" as const;

/** Returns the endpoint of an organization's callbacks. @param url that of one message */
export function callbacksOf(organizationId: string, isTest: boolean, url = ""): WebhookRecord {
  const id = `${callbacksName}#${organizationId}${isTest ? "#test" : ""}`;
  return { entity: "webhook", id, organizationId, url, events: [], createdAt: "" };
}

/** Whether an id is that of callbacks, and no webhook's. */
export function isCallbacks(webhookId: string): boolean {
  return webhookId.startsWith(callbacksName);
}
