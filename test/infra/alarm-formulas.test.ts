import { beforeAll, expect, it } from "vitest";

import { pascalCase } from "../../infra/stack/constructs/names.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { EvaluatedAlarm, fires, type Situation } from "../support/alarm-evaluation.ts";
import { alarmsOf, alarmsOfOutage } from "../support/alarms.ts";
import { synthesized } from "../support/synthesized.ts";

/*
 * Each alarm fires for its cause, from its formula in the template and the metrics of that cause. It fires in no normal traffic,
 * and one cause fires no second alarm, except where a test here lists it.
 */

let alarms: EvaluatedAlarm[];
let ofOutage: readonly string[];
let ownPages: readonly string[];
beforeAll(() => {
  const { template } = synthesized({ ...stageNamed("prod"), monthlyCarrierSpendLimitUsd: 1_000 });
  alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) =>
    EvaluatedAlarm.parse(Properties),
  );
  ofOutage = alarmsOfOutage(template);
  ownPages = alarmsOf(template)
    .filter(({ AlarmActions }) => AlarmActions.length === 2)
    .map(({ AlarmName }) => AlarmName);
});

const kindOf = ({ AlarmDescription }: EvaluatedAlarm): string => AlarmDescription.split("#").at(-1) ?? "";
const nameOf = ({ AlarmName }: EvaluatedAlarm): string => AlarmName.replace("sms-gateway-prod/", "");

/** The alarms that fire, except for those of versions: they notify no one, and CodeDeploy reads them during a deployment. */
function firing(situation: Situation, ofVersions = false): string[] {
  return alarms
    .filter((alarm) => kindOf(alarm).startsWith("version-") === ofVersions && fires(alarm, situation))
    .map(nameOf)
    .toSorted();
}

/** The calls of the schedules, each minute over all shards, which a stage without any traffic has too. */
const schedules: Situation = {
  Invocations: 0.02,
  "Invocations@ReconcileWallets": 4,
  "Invocations@ReleaseScheduledJobs": 4,
  "Invocations@VisitPayments": 4,
  "Invocations@CloseDays": 4 / 5,
  "Invocations@WatchCarriers": 1 / 5,
  "Invocations@WatchSpending": 4 / 15,
  "Invocations@SealAuditLogs": 1 / 60,
  "Invocations@ExpireAccounts": 1 / 60,
  "Invocations@ComparePayments": 1 / (24 * 60),
  EdgeReached: 0.5,
  ApproximateNumberOfMessagesVisible: 0,
  ApproximateAgeOfOldestMessage: 0,
};

/** Two million messages a month, at their busiest: with mistakes of customers and single errors of AWS. */
const traffic: Situation = {
  ...schedules,
  Invocations: 300,
  Errors: 0,
  Count: 400,
  "5xx": 0.4,
  Latency: 700,
  Throttles: 0,
  UrgentMessages: 100,
  OverdueMessages: 1,
  ResourceCount: 60,
  ThrottledRequests: 0,
  FailedLogins: 2,
  ApproximateAgeOfOldestMessage: 600,
  SystemErrors: 0.1,
  ReadThrottleEvents: 0.2,
  WriteThrottleEvents: 0.2,
  CarrierBreakersClosed: 0,
  FailedJobs: 0,
  RequeuedMessages: 0.05,
  VoidedDebits: 0.05,
  RefundedMicros: 2_000,
  TextMessageMonthlySpend: 400,
};

/** The metrics that a cause changes, for each kind of alarm. */
const causes: Readonly<Record<string, Situation>> = {
  "api-errors": { "5xx": 12 },
  "api-latency": { Latency: 4_000 },
  "api-throttles": { ThrottledRequests: 5 },
  "carrier-breaker-open": { CarrierBreakersOpened: 0.5 },
  "carrier-buffered": { CarrierBuffered: 3 },
  "carrier-failures": { FailingCarriers: 0.2 },
  "carrier-late": { LateCarriers: 0.2 },
  "carrier-spend": { TextMessageMonthlySpend: 850 },
  "carrier-throttles": { ThrottlingCarriers: 0.2 },
  "callbacks-unreadable": { UnreadableCallbacks: 0.2 },
  "carrier-unreachable": { CarrierUnreachable: 10 },
  "dead-letters": { "ApproximateNumberOfMessagesVisible@RefundsDeadLetters": 1 },
  "delivery-rate": { LowDeliveryRates: 0.2 },
  "edge-unreachable": { EdgeReached: undefined },
  "failed-jobs": { FailedJobs: 0.4 },
  "failed-logins": { FailedLogins: 20 },
  "failed-payments": { FailedPayments: 1 },
  "failed-price-reads": { FailedPriceReads: 2 },
  "failed-reconciliations": { FailedReconciliations: 0.4 },
  "inbound-discarded": { DiscardedInboundMessages: 0.2 },
  "keywords-unapplied": { UnappliedKeywords: 0.2 },
  "inconsistent-ledgers": { InconsistentLedgers: 0.2 },
  "lambda-concurrency": { ResourceCount: 900 },
  "lambda-throttles": { Throttles: 30 },
  "no-healthy-carrier": { MessagesWithoutCarrier: 3 },
  "objective-codes": { UrgentMessages: 100, OverdueMessages: 15 },
  "payment-differences": { PaymentDifferences: 0.2 },
  "queue-age": { "ApproximateAgeOfOldestMessage@TransactionalSends": 1_500 },
  "receipts-missing": { MissingReceipts: 0.2 },
  "recursion-stopped": { "RecursiveInvocationsDropped@RefundMessage": 1 },
  "refunded-amount": { RefundedMicros: 200_000 },
  "requeued-messages": { RequeuedMessages: 1 },
  "schedule-failed": { "Errors@ComparePayments": 0.2 },
  "schedule-missed": { "Invocations@ComparePayments": undefined },
  "table-errors": { SystemErrors: 2 },
  "table-throttles": { WriteThrottleEvents: 5 },
  "unreadable-records": { UnreadableRecords: 0.2 },
  "unusual-spend": { UnusualSpend: 0.2 },
  "version-errors": { "Errors@SendSms": 90 },
  "version-faults": { "Faults@SendSms": 90 },
  "voided-debits": { VoidedDebits: 1 },
  "worker-errors": { "Errors@SendMessage": 1 },
};

it("has a cause for each alarm", () => {
  expect(Object.keys(causes).toSorted()).toEqual([...new Set(alarms.map(kindOf))].toSorted());
});

it.each(Object.entries(causes))("%s fires for its cause, and no other alarm does", (kind, cause) => {
  const on = firing({ ...traffic, ...cause }, kind.startsWith("version-"));
  expect(on).toHaveLength(1);
  expect(on[0]).toMatch(new RegExp(`^${kind}(-|$)`));
});

/** For the kinds with an alarm for each queue or schedule: the metric, the end of its subject, and the value that fires. */
const ofSubjects: readonly (readonly [
  kind: string,
  metric: string,
  end: string,
  value: number | undefined,
])[] = [
  ["schedule-missed", "Invocations", "", undefined],
  ["schedule-failed", "Errors", "", 1],
  ["queue-age", "ApproximateAgeOfOldestMessage", "Queue", 10_000],
  ["dead-letters", "ApproximateNumberOfMessagesVisible", "DeadLetters", 1],
];

it.each(ofSubjects)("%s fires for each of its subjects alone", (kind, metric, end, value) => {
  const ofKind = alarms.filter((alarm) => kindOf(alarm) === kind).map(nameOf);
  expect(ofKind.length).toBeGreaterThan(5);
  for (const name of ofKind) {
    const key = `${metric}@${pascalCase(camelCase(name.slice(kind.length + 1)))}${end}`;
    expect(firing({ ...traffic, [key]: value })).toEqual([name]);
  }
});

function camelCase(subject: string): string {
  return subject.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

it("no alarm fires in busy traffic, and none in a night without traffic", () => {
  expect(firing(traffic)).toEqual([]);
  expect(firing(schedules)).toEqual([]);
});

it("a rare schedule fires no alarm while the stage is younger than its period", () => {
  const young = {
    ...schedules,
    "Invocations@ComparePayments": undefined,
    "Invocations@CloseDays": undefined,
  };
  expect(firing({ ...young, "Invocations@ReconcileWallets": 0.8 * 4 })).toEqual([]);
  expect(firing(young)).toEqual(["schedule-missed-close-days", "schedule-missed-compare-payments"]);
});

/** The alarms of an outage that fire in a situation. */
function ofOutageIn(situation: Situation): string[] {
  return firing(situation).filter((name) => ofOutage.includes(`sms-gateway-prod/${name}`));
}

/** The pages of a situation: its alarms of an outage are one. */
function pages(situation: Situation): string[] {
  const own = firing(situation).filter((name) => ownPages.includes(`sms-gateway-prod/${name}`));
  return ofOutageIn(situation).length > 0 ? ["outage", ...own] : own;
}

it("an outage of DynamoDB fires several alarms and one page", () => {
  const failing = {
    SystemErrors: 80,
    "5xx": 200,
    Latency: 9_000,
    FailedPriceReads: 5,
    Errors: 4,
    FailedJobs: 20,
  };
  const late = { "ApproximateAgeOfOldestMessage@TransactionalSends": 2_000, EdgeReached: undefined };
  const outage = { ...traffic, ...failing, ...late };
  expect(ofOutageIn(outage).length).toBeGreaterThan(8);
  expect(pages(outage)).toEqual(["outage"]);
});

it("an outage of Lambda, or too little of its concurrency, fires several alarms and one page", () => {
  const without = Object.keys(schedules).filter((metric) => metric.startsWith("Invocations"));
  const gone = Object.fromEntries([...without, "EdgeReached"].map((metric) => [metric, undefined]));
  const outage = { ...traffic, "5xx": 400, Throttles: 300, ...gone };
  expect(ofOutageIn(outage).length).toBeGreaterThan(5);
  expect(pages(outage)).toEqual(["outage"]);
  // Another cause at the same time is another page.
  expect(pages({ ...outage, InconsistentLedgers: 1 })).toEqual(["outage", "inconsistent-ledgers"]);
});

it("a carrier that fails beside a healthy one fires one alarm", () => {
  // Each half minute a probe has an unknown outcome, and its job returns.
  expect(firing({ ...traffic, CarrierBreakersOpened: 2 })).toEqual(["carrier-breaker-open"]);
});

it("an edge that lets no one through fires one alarm", () => {
  const { EdgeReached: _none, ...withoutEdge } = schedules;
  expect(firing(withoutEdge)).toEqual(["edge-unreachable"]);
});
