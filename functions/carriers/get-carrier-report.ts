import { reportTaker } from "../../shared/carrier-reports/take.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/carriers.ts";

const takeReport = reportTaker();

export const handler = publicEndpoint(routes.getCarrierReport, async ({ query, ...call }) =>
  takeReport({ ...call, query, reports: [query] }),
);
