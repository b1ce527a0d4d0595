import type { KeyFamily } from "./table/keys.ts";

export const tableActions = ["DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"] as const;
type TableAction = (typeof tableActions)[number];

export const queueNames = [
  "campaigns",
  "marketingSends",
  "refunds",
  "transactionalSends",
  "webhookDeliveries",
  "webhookRetries",
] as const;
export type QueueName = (typeof queueNames)[number];

/** What a function may touch. Its role allows this and nothing else, locally as in AWS. */
export interface Access {
  readonly table?: { readonly [Family in KeyFamily]?: readonly TableAction[] };
  /** Queues it may send to. */
  readonly queues?: readonly QueueName[];
  /** Whether it may read the key that session tokens are signed with. */
  readonly sessionKey?: true;
}
