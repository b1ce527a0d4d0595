import { Duration } from "aws-cdk-lib";
import { MathExpression, Metric, Stats, TreatMissingData, type IMetric } from "aws-cdk-lib/aws-cloudwatch";

import type { MetricName } from "../../../shared/platform/metrics.ts";
import { alarmPeriod, countedMetric, type AlarmProps, type Severity } from "./alarms.ts";
import { tailOf } from "./commands.ts";
import type { Watched } from "./stage-alarms.ts";

/** The fewest messages in a period that are judged: one of a few is a large share. */
const fewest = 15;

/** Returns the share of codes and transactional messages that miss their objective, in percent: see `infra/SCALE.md`. */
export function overdueShare(stage: Watched["stage"]): IMetric {
  return new MathExpression({
    expression: `IF(all >= ${fewest}, 100 * overdue / all, 0)`,
    usingMetrics: {
      overdue: countedMetric(stage, "OverdueMessages"),
      all: countedMetric(stage, "UrgentMessages"),
    },
    period: alarmPeriod,
  });
}

export function addCarrierAlarms({ stage, alarms }: Pick<Watched, "alarms" | "stage">): void {
  const addFinding = (
    kind: string,
    severity: Severity,
    metric: MetricName,
    texts: Pick<AlarmProps, "firstStep" | "means"> & Partial<Pick<AlarmProps, "command">>,
  ): void => {
    // The text of an alarm is fixed.
    const means = `${texts.means} The email to alarmEmails names the carrier and the country.`;
    alarms.add(kind, severity, {
      command: `npm run operator -- deliveries --by carrier,country --hours 3 --stage ${stage.name}`,
      ...texts,
      means,
      metric: countedMetric(stage, metric),
      // Each carrier is judged each five minutes, so that one of two periods may have no judgment.
      evaluationPeriods: 2,
      datapointsToAlarm: 1,
    });
  };
  addFinding("delivery-rate", "page", "LowDeliveryRates", {
    means:
      "A carrier delivers less than half of its usual share, in all or in one country: customers pay for lost messages.",
    firstStep: "See which carrier and country it is, and set its route to another carrier.",
  });
  addFinding("carrier-late", "page", "LateCarriers", {
    means:
      "One of twenty codes or transactional messages reaches a carrier later than five seconds. Codes will miss the ten " +
      "seconds of the objective.",
    firstStep:
      "See which carrier takes long, and set its routes to another one. If all do, jobs wait: see queue-age.",
    command: `npm run operator -- deliveries --by carrier,class --hours 1 --stage ${stage.name}`,
  });
  alarms.add("objective-codes", "page", {
    means:
      "In half of the last hour, one of seven codes or transactional messages took longer than ten seconds to a carrier. This " +
      "spends the error budget of a month in two days.",
    firstStep: "See which carrier or class is late. If all are, jobs wait: see queue-age.",
    command: `npm run operator -- deliveries --by carrier,class --hours 3 --stage ${stage.name}`,
    metric: overdueShare(stage),
    // 14.4 times the rate that spends the budget of 1 % in a month: "The Site Reliability Workbook", chapter 5.
    threshold: 14.4,
    evaluationPeriods: 12,
    datapointsToAlarm: 6,
  });
  addFinding("receipts-missing", "ticket", "MissingReceipts", {
    means:
      "A carrier accepts messages and sends less than a third of its usual receipts, in all or in one country: messages " +
      "may be lost.",
    firstStep:
      "See the carrier and country with the most NO RECEIPT, and send a test message there. If it arrives, only receipts are missing.",
    command: `npm run operator -- deliveries --by carrier,country --hours 1 --stage ${stage.name}`,
  });
  addFinding("carrier-failures", "ticket", "FailingCarriers", {
    means:
      "A carrier rejects a fifth of the messages, or their outcome is unknown, in all or in one country. They fail over, or " +
      "fail and are refunded.",
    firstStep: "See by error code whether a sender ID, a country or the carrier itself is the cause.",
  });
  addFinding("carrier-throttles", "ticket", "ThrottlingCarriers", {
    means:
      "For half an hour a carrier has throttled nine messages of ten. They fail over, or fail after six hours of that.",
    firstStep: "Compare what customers send with the carrier's rate and spending limit.",
    command: "aws pinpoint-sms-voice-v2 describe-spend-limits",
  });
  alarms.add("carrier-unreachable", "ticket", {
    means:
      "Messages do not reach the carrier: no connection, or it rejects our credentials. They wait, and fail after six hours.",
    firstStep: "See by error code whether a permission, a credential or the network is missing.",
    command: tailOf(alarms, "workers", '{ $.event = "carrier.unreachable" }'),
    metric: countedMetric(stage, "CarrierUnreachable"),
    evaluationPeriods: 2,
  });
  alarms.add("carrier-buffered", "ticket", {
    means:
      "A carrier accepts messages and holds them, because its own link is down. They count as sent, and leave once it is up.",
    firstStep: "See which carrier it is, and restore its link, or disable the carrier until then.",
    command: tailOf(alarms, "workers", '{ $.event = "carrier.buffered" }'),
    metric: countedMetric(stage, "CarrierBuffered"),
    evaluationPeriods: 2,
  });
  alarms.add("carrier-breaker-open", "ticket", {
    means:
      "A carrier does not respond, or too slowly for codes, and its circuit breaker is open. Messages use the next carrier of " +
      "their route. If it has none, they wait, or are late if the carrier is slow.",
    firstStep: "See which carrier it is, and whether its routes have another.",
    command: `npm run operator -- carriers list --stage ${stage.name}`,
    metric: countedMetric(stage, "CarrierBreakersOpened"),
    // A breaker that closes within one period needs no operator. One that stays open counts with each failed probe, up to
    // twenty minutes apart, and after five minutes also with the messages that skip it.
    evaluationPeriods: 6,
    datapointsToAlarm: 2,
  });
  alarms.add("inbound-discarded", "ticket", {
    means:
      "Inbound messages are discarded, because another carrier reported them: a STOP among them has no effect.",
    firstStep:
      "See whether the number is assigned to the wrong carrier, or the token of a carrier was stolen.",
    command: tailOf(alarms, "workers", '{ $.event = "inbound.of_other_carrier" }'),
    metric: countedMetric(stage, "DiscardedInboundMessages"),
  });
  alarms.add("keywords-unapplied", "ticket", {
    means: "A STOP or START has no effect, because the carrier names a sender that is no phone number.",
    firstStep: "See which carrier it is, and how it writes the numbers of senders.",
    command: tailOf(alarms, "workers", '{ $.event = "inbound.keyword_not_applied" }'),
    metric: countedMetric(stage, "UnappliedKeywords"),
  });
  alarms.add("callbacks-unreadable", "ticket", {
    means: "Receipts or inbound messages of a carrier are rejected, because the gateway cannot read them.",
    firstStep: "See which carrier it is, and compare its calls with its settings.",
    command: tailOf(alarms, "api", '{ $.event = "callback.unreadable" }'),
    metric: countedMetric(stage, "UnreadableCallbacks"),
  });
  if (stage.carrier !== "aws" || stage.monthlyCarrierSpendLimitUsd === undefined) return;
  alarms.add("carrier-spend", "ticket", {
    means:
      "The account has spent four fifths of its monthly limit for SMS. At the limit AWS sends no more messages.",
    firstStep: "Request a higher limit (Service Quotas, AWS End User Messaging); it takes about a day.",
    command: "aws pinpoint-sms-voice-v2 describe-spend-limits",
    metric: new Metric({
      namespace: "AWS/SMSVoice",
      metricName: "TextMessageMonthlySpend",
      statistic: Stats.MAXIMUM,
      period: Duration.hours(1),
    }),
    threshold: 0.8 * stage.monthlyCarrierSpendLimitUsd,
    // AWS writes the month's total only when a message is sent.
    missingData: TreatMissingData.IGNORE,
  });
}
