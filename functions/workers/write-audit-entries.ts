import { worker } from "../../shared/platform/jobs/worker.ts";
import { OperatorEntry, writeOperatorEntry } from "../../shared/tenancy/audit-log/operator-entries.ts";

export const handler = worker(OperatorEntry, async (entry, _remainingTimeMs, _queuedAt, _batch, sent) =>
  writeOperatorEntry(entry, sent.SenderId, new Date(Number(sent.SentTimestamp))),
);
