import { watchCarriers } from "../../shared/figures/deliveries/watch.ts";
import { emailFindings } from "../../shared/figures/operators/carrier-findings.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";

export const handler = scheduled("carriers.watched", async () => {
  const findings = await watchCarriers();
  await emailFindings(findings);
  return findings.length;
});
