import { checkEdge } from "../../shared/platform/http/check-edge.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("edge.checked", checkEdge);
