import { runClosing } from "../../shared/figures/books/close.ts";
import { ClosingJob } from "../../shared/figures/books/closing.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(ClosingJob, async (job, { remainingTimeMs }) =>
  runClosing(job, remainingTimeMs),
);
