import { createHash } from "node:crypto";

import { isCallbacks } from "./callbacks.ts";
import type { WebhookRecord } from "./record.ts";

/** The endpoint of a call. */
export type Callee = Pick<WebhookRecord, "id" | "organizationId" | "url"> &
  Partial<Pick<WebhookRecord, "test">>;

/** Returns whose traffic a call belongs to: a test key cannot delay live events. */
export function trafficOf({ id, test }: Callee): "live" | "test" {
  return test === true || (isCallbacks(id) && id.endsWith("#test")) ? "test" : "live";
}

/** Returns the id of the organization's slots. */
export function organizationOf(callee: Callee): string {
  return trafficOf(callee) === "test" ? `${callee.organizationId}#test` : callee.organizationId;
}

/** Returns the host of a webhook. A name with a dot at its end is the same host. */
function hostOf({ url }: Pick<Callee, "url">): string {
  return new URL(url).host.replace(/\.(?=:|$)/, "");
}

/** Returns the id of the endpoint that has the slots and the failures of a call. Callbacks have one for each host. */
export function endpointOf(callee: Callee): string {
  const { id, organizationId } = callee;
  return isCallbacks(id) ? `${id}#${organizationId}#${hostOf(callee)}` : id;
}

/** Returns the end of the slots of a host. No host makes the item of its organization larger than another. */
export function hostMark(callee: Callee): string {
  return `#${createHash("sha256").update(hostOf(callee)).digest("base64url").slice(0, 8)}`;
}
