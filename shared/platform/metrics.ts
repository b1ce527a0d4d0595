import { now } from "./clock.ts";

export const metricsNamespace = "SmsGateway";

/**
 * Writes counts as metrics, in CloudWatch's embedded metric format: one JSON line on standard output, which
 * CloudWatch turns into metrics by itself.
 */
export function countMetrics(counts: Readonly<Record<string, number>>): void {
  const line = {
    _aws: {
      Timestamp: now().getTime(),
      CloudWatchMetrics: [
        {
          Namespace: metricsNamespace,
          Dimensions: [[]],
          Metrics: Object.keys(counts).map((Name) => ({ Name, Unit: "Count" })),
        },
      ],
    },
    ...counts,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
