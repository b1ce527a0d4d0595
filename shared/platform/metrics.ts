import { now } from "./clock.ts";
import { config } from "./config.ts";

export const metricsNamespace = "SmsGateway";

/** The metrics that functions write. Alarms and the dashboard read them. Each costs a monthly price in each stage. */
export const metricNames = [
  // Carriers, and countries of a carrier, whose figures differ from their usual ones.
  "FailingCarriers",
  "LateCarriers",
  "LowDeliveryRates",
  "MissingReceipts",
  "ThrottlingCarriers",
  // Codes and transactional messages that a carrier accepted, and those that took longer than ten seconds.
  "OverdueMessages",
  "UrgentMessages",
  // Messages that a carrier accepted and holds, because its own link is down.
  "CarrierBuffered",
  // Submissions that did not reach the carrier: no connection, or rejected credentials.
  "CarrierUnreachable",
  // Messages that wait, because each carrier of their route is disabled or does not respond.
  "MessagesWithoutCarrier",
  // Circuit breakers that opened or stayed open because a carrier did not respond, and those that closed.
  "CarrierBreakersClosed",
  "CarrierBreakersOpened",
  // Inbound messages that were discarded, because their number belongs to another carrier.
  "DiscardedInboundMessages",
  // STOP and START of senders that are no phone numbers, and calls of carriers that could not be read.
  "UnappliedKeywords",
  "UnreadableCallbacks",
  // Calls of the public address from outside that succeeded. No data is a failure.
  "EdgeReached",
  // Jobs that threw and are retried, except for those whose carrier left the outcome unknown.
  "FailedJobs",
  // Log-ins with a wrong password or an unknown email.
  "FailedLogins",
  // Reads of the prices that failed.
  "FailedPriceReads",
  // Wallets that could not be reconciled.
  "FailedReconciliations",
  // Payments that could not be processed, and successful payments of the provider that the gateway has not credited.
  "FailedPayments",
  "PaymentDifferences",
  // Places where a ledger does not add up.
  "InconsistentLedgers",
  // Repairs of the reconciler.
  "RefundedMicros",
  "RequeuedMessages",
  "VoidedDebits",
  // Emails that were not sent, because the address is on the suppression list, or had the most emails of a day.
  "SuppressedEmails",
  // Customers whose spending in a country became unusual.
  "UnusualSpend",
  // Records whose shape this release does not know.
  "UnreadableRecords",
] as const;
export type MetricName = (typeof metricNames)[number];

/** The metrics of each carrier: the outcomes of submissions, the receipts, and its unreadable calls. The dashboard reads them. */
export const carrierMetricNames = [
  "CarrierAccepted",
  "CarrierDelivered",
  "CarrierInvalidDestinations",
  "CarrierOutcomeUnknown",
  "CarrierRejected",
  "CarrierThrottled",
  "CarrierUndelivered",
  "CarrierUnreadableCallbacks",
] as const;
export type CarrierMetricName = (typeof carrierMetricNames)[number];

/** The counts of the stage, whose name here is empty, and of each carrier. */
const counted = new Map<string, Record<string, number>>();

/** Adds to the counts. The next `writeMetrics` writes them, at the end of the call or the batch. */
export function countMetrics(
  counts: { readonly [Name in CarrierMetricName | MetricName]?: number },
  carrier = "",
): void {
  const sums = counted.get(carrier) ?? {};
  for (const [name, added] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + added;
  counted.set(carrier, sums);
}

/**
 * Writes the counts since the last time as metrics of the stage and of its carriers. Writes nothing if there are none.
 */
export function writeMetrics(): void {
  const stage = config.stage();
  for (const [carrier, counts] of counted) write(counts, carrier === "" ? { stage } : { stage, carrier });
  counted.clear();
}

/** Counts the faults of one version of a function. A deployment rolls back a faulty version. */
export const faultsMetric = "Faults";

/** Counts a fault, if the running function is a version that is deployed gradually. */
export function countFault(): void {
  // Lambda sets both.
  const name = process.env["AWS_LAMBDA_FUNCTION_NAME"];
  const version = process.env["AWS_LAMBDA_FUNCTION_VERSION"];
  if (name === undefined || version === undefined || version === "$LATEST") return;
  write({ [faultsMetric]: 1 }, { FunctionName: name, ExecutedVersion: version });
}

/** Writes one JSON line to standard output, in CloudWatch's embedded metric format. CloudWatch makes metrics of it. */
function write(counts: Readonly<Record<string, number>>, dimensions: Readonly<Record<string, string>>): void {
  const line = {
    _aws: {
      Timestamp: now().getTime(),
      CloudWatchMetrics: [
        {
          Namespace: metricsNamespace,
          Dimensions: [Object.keys(dimensions)],
          Metrics: Object.keys(counts).map((Name) => ({ Name, Unit: "Count" })),
        },
      ],
    },
    ...dimensions,
    ...counts,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
