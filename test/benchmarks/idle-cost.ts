import * as z from "zod/mini";

import { stageNamed } from "../../infra/stack/stages/stage.ts";
import { alarmsOf, metricsOfAlarm } from "../support/alarms.ts";
import { synthesized } from "../support/synthesized.ts";
import { prices } from "./prices.ts";
import { callsPerMonth, hoursPerMonth } from "./schedules.ts";

/** One item of the monthly cost of a stage that does nothing. */
export interface IdleCost {
  readonly what: string;
  readonly count: number;
  readonly dollarsPerMonth: number;
}

/** Lambda's polling of each queue: the number of simultaneous requests, and how long each waits for a job. */
const pollers = 5;
const pollSeconds = 20;

const Rule = z.object({
  Properties: z.object({
    ScheduleExpression: z.optional(z.string()),
    Targets: z.array(z.unknown()),
  }),
});
const Rules = z.object({ Properties: z.object({ Rules: z.array(z.unknown()) }) });

/**
 * Calculates the monthly cost of an idle stage `prod` from its templates: list prices, no free tier. The functions are bundled.
 * @param clockDollars the cost of the scheduled calls, without their traces
 */
export function idleCosts(clockDollars: number): IdleCost[] {
  const { template, firewall } = synthesized(stageNamed("prod"));
  const ofType = (type: string): object[] =>
    [template, firewall].flatMap((each) => Object.values(each?.findResources(type) ?? {}));

  const alarmMetrics = alarmsOf(template).flatMap(metricsOfAlarm).length;
  const polls =
    (ofType("AWS::Lambda::EventSourceMapping").length * pollers * hoursPerMonth * 3_600) / pollSeconds;
  // X-Ray records the first call in each second. A scheduled call counts as one.
  const clockCalls = ofType("AWS::Events::Rule")
    .map((rule) => Rule.parse(rule).Properties)
    // A rule for events has no schedule.
    .flatMap(({ ScheduleExpression, Targets }) =>
      ScheduleExpression === undefined ? [] : [Targets.length * callsPerMonth(ScheduleExpression)],
    )
    .reduce((sum, calls) => sum + calls, 0);
  const cost = (what: string, count: number, each: number): IdleCost => ({
    what,
    count,
    dollarsPerMonth: count * each,
  });
  const firewallRules = ofType("AWS::WAFv2::WebACL").reduce(
    (count, acl) => count + Rules.parse(acl).Properties.Rules.length,
    0,
  );
  return [
    cost("metrics that alarms look at", alarmMetrics, prices.alarmMetricMonth),
    cost("requests of Lambda to empty queues, millions", polls / 1e6, prices.queueRequest * 1e6),
    cost("traces of scheduled calls, millions", clockCalls / 1e6, prices.trace * 1e6),
    cost("scheduled calls", 1, clockDollars),
    cost(
      "the composite alarm of outages",
      ofType("AWS::CloudWatch::CompositeAlarm").length,
      prices.compositeAlarmMonth,
    ),
    cost("the metric of `CheckEdge`", 1, prices.ownMetricMonth),
    cost("KMS key of the sessions", ofType("AWS::KMS::Key").length, prices.kmsKeyMonth),
    cost("secrets", ofType("AWS::SecretsManager::Secret").length, prices.secretMonth),
    cost("the firewall", ofType("AWS::WAFv2::WebACL").length, prices.webAclMonth),
    cost("its rules", firewallRules, prices.webAclRuleMonth),
  ];
}

export function sumOfCosts(costs: readonly Pick<IdleCost, "dollarsPerMonth">[]): number {
  return costs.reduce((sum, { dollarsPerMonth }) => sum + dollarsPerMonth, 0);
}
