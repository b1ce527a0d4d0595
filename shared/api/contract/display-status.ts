import type * as z from "zod/mini";

import { about, namedEnum } from "./about.ts";

export const DisplayStatus = about(
  namedEnum("DisplayStatus", [
    "queued",
    "scheduled",
    "sent",
    "delivered",
    "undelivered",
    "failed",
    "cancelled",
  ]),
  "Only messages that the console shows with this status. `scheduled` are the queued ones that wait for their " +
    "`scheduledAt`. `delivered` and `undelivered` are the sent ones with this delivery status, and `sent` the others.",
);
export type DisplayStatus = z.infer<typeof DisplayStatus>;

interface Shown {
  readonly status: "cancelled" | "failed" | "queued" | "sent";
  readonly scheduledAt?: string | undefined;
}

/** Returns the status of a message as people see it. */
export function displayStatusOf(
  { status, scheduledAt }: Shown,
  deliveryStatus: string | undefined,
  at: Date,
): DisplayStatus {
  if (status === "queued") return Date.parse(scheduledAt ?? "") > at.getTime() ? "scheduled" : "queued";
  const isFinal = deliveryStatus === "delivered" || deliveryStatus === "undelivered";
  return status === "sent" && isFinal ? deliveryStatus : status;
}
