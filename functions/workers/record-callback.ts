import { recordReport } from "../../shared/carrier-reports/record.ts";
import { QueuedReport } from "../../shared/carrier-reports/report-job.ts";
import { countReceipts } from "../../shared/messages/counts.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(
  QueuedReport,
  async (report, _remainingTimeMs, queuedAt) => recordReport(report, queuedAt),
  async (heard) => countReceipts(heard.filter((receipt) => receipt !== undefined)),
);
