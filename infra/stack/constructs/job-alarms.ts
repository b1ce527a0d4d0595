import { Duration } from "aws-cdk-lib";

import { decimalsOf } from "../../../shared/api/contract/currencies.ts";
import type { MetricName } from "../../../shared/platform/metrics.ts";
import { countedMetric } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import type { Watched } from "./stage-alarms.ts";

/** Adds the alarms on jobs, wallets, prices and records. */
export function addJobAlarms({ stage, alarms }: Pick<Watched, "alarms" | "stage">): void {
  alarms.add("failed-jobs", "ticket", {
    means: "Jobs have failed for a quarter of an hour: messages, refunds, campaigns or webhooks are late.",
    firstStep: "Find and fix the cause. Jobs are retried for six hours, then they become dead letters.",
    command: tailOf(alarms, "workers", '{ $.event = "job.failed" }'),
    metric: countedMetric(stage, "FailedJobs"),
    evaluationPeriods: 3,
  });
  alarms.add("no-healthy-carrier", "page", {
    means:
      "For ten minutes messages have waited, because no carrier of their route responds or is enabled. They fail after six hours.",
    firstStep: "See which carriers do not respond, and add another one to their routes.",
    command: `npm run operator -- carriers list --stage ${stage.name}`,
    metric: countedMetric(stage, "MessagesWithoutCarrier"),
    evaluationPeriods: 2,
  });
  alarms.add("failed-reconciliations", "ticket", {
    means:
      "The reconciler could not process a wallet: money that a crash took from that customer is not refunded.",
    firstStep: "Find the organization and the error; the reconciler retries the wallet within minutes.",
    command: tailOf(alarms, "workers", '{ $.event = "wallet.reconciliation_failed" }'),
    metric: countedMetric(stage, "FailedReconciliations"),
    evaluationPeriods: 2,
  });
  alarms.add("inconsistent-ledgers", "page", {
    means:
      "A customer's ledger does not add up. This is never normal, and it is reported once: the alarm ends within " +
      "minutes, the error in the ledger stays.",
    firstStep: "Find the organization and the seq in the log, and verify its wallet to see what is wrong.",
    command: tailOf(alarms, "workers", '{ $.event = "ledger.inconsistent" }'),
    metric: countedMetric(stage, "InconsistentLedgers"),
  });
  alarms.add("failed-payments", "ticket", {
    means: "Payments, refunds or recharges cannot be processed: customers have paid and miss the money.",
    firstStep: "Find the payment and the error; the gateway retries it every few minutes.",
    command: tailOf(alarms, "workers", '{ $.event = "payment.not_processed" }'),
    metric: countedMetric(stage, "FailedPayments"),
    evaluationPeriods: 2,
  });
  alarms.add("payment-differences", "ticket", {
    means:
      "The payment provider has a successful payment that no wallet was credited for. The daily comparison reports it.",
    firstStep: "List the differences, and refund or credit each payment.",
    command: `npm run operator -- payments compare --stage ${stage.name}`,
    metric: countedMetric(stage, "PaymentDifferences"),
  });
  alarms.add("unusual-spend", "ticket", {
    means:
      "A customer spends much more in a country today than in their last weeks: their program or key may be abused, or they grow.",
    firstStep:
      "See the figures, look at the messages, and limit or block the destination. An email has them too.",
    command: `npm run operator -- organizations unusual --stage ${stage.name}`,
    metric: countedMetric(stage, "UnusualSpend"),
  });
  alarms.add("failed-price-reads", "outage", {
    means:
      "Functions cannot read the prices or the blocked destinations. They use the last ones for a quarter of an hour. Then " +
      "sends end in 503, and messages are sent without a cost, or wait.",
    firstStep: "See the error: the table is throttled, or a row of the prices cannot be read.",
    command: tailOf(alarms, "api", '{ $.event = "prices.not_read" }'),
    metric: countedMetric(stage, "FailedPriceReads"),
    // The next read makes up for a single one that fails.
    evaluationPeriods: 2,
  });
  alarms.add("unreadable-records", "ticket", {
    means:
      "A record in the table has a shape that this release does not know: lists omit it, and a request for it is a 500.",
    firstStep: "Find its key in the log, and deploy the release that wrote it, or repair the item.",
    command: tailOf(alarms, "api", '{ $.event = "record.unreadable" }'),
    metric: countedMetric(stage, "UnreadableRecords"),
  });
  const addRepairAlarm = (kind: string, metricName: MetricName, threshold: number, means: string): void => {
    alarms.add(kind, "ticket", {
      means,
      firstStep: "Find the crashes, time-outs or throttles of that hour that caused this.",
      command: `npm run operator -- wallets verify --stage ${stage.name}`,
      metric: countedMetric(stage, metricName, Duration.hours(1)),
      threshold,
    });
  };
  addRepairAlarm(
    "voided-debits",
    "VoidedDebits",
    10,
    "Ten or more debits within an hour had no message. The reconciler voids and refunds them.",
  );
  // The units of currencies without decimals are small.
  const refunded = decimalsOf(stage.currency) === 0 ? 1_000 : 10;
  addRepairAlarm(
    "refunded-amount",
    "RefundedMicros",
    refunded * 1_000_000,
    `The reconciler has refunded ${refunded} ${stage.currency} or more within an hour: sends failed after they were paid.`,
  );
  addRepairAlarm(
    "requeued-messages",
    "RequeuedMessages",
    10,
    "Ten or more paid messages within an hour had lost their job: they are sent ten minutes late.",
  );
}
