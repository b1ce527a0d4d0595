import { worker } from "../../shared/platform/jobs/worker.ts";
import { OperatorEntry, writeOperatorEntry } from "../../shared/tenancy/audit-log/operator-entries.ts";

export const handler = worker(OperatorEntry, async (entry, { sent }) =>
  writeOperatorEntry(entry, sent.SenderId, new Date(Number(sent.SentTimestamp))),
);
