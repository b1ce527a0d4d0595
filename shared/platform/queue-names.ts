/** The queues of the gateway. */
export const queueNames = [
  "auditEntries",
  "books",
  "campaigns",
  "carrierCallbacks",
  "emails",
  "exports",
  "marketingSends",
  "payments",
  "refunds",
  "transactionalSends",
  "webhookDeliveries",
  "webhookRetries",
] as const;
export type QueueName = (typeof queueNames)[number];
