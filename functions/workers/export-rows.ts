import { ExportJob } from "../../shared/figures/exports/record.ts";
import { runExport } from "../../shared/figures/exports/run.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";

export const handler = worker(ExportJob, async (job, { remainingTimeMs }) => runExport(job, remainingTimeMs));
