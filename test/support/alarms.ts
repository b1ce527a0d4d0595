import type { Template } from "aws-cdk-lib/assertions";
import * as z from "zod/mini";

const Dimensions = z.pipe(
  z._default(z.array(z.object({ Name: z.string(), Value: z.unknown() })), []),
  z.transform((list) => Object.fromEntries(list.map(({ Name, Value }) => [Name, Value]))),
);

const MetricInTemplate = z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions });

const AlarmInTemplate = z.looseObject({
  AlarmName: z.string(),
  AlarmDescription: z.string(),
  AlarmActions: z._default(z.array(z.unknown()), []),
  OKActions: z._default(z.array(z.unknown()), []),
  Threshold: z.number(),
  Metrics: z.optional(z.array(z.object({ MetricStat: z.optional(z.object({ Metric: MetricInTemplate })) }))),
});
export type AlarmInTemplate = z.infer<typeof AlarmInTemplate>;

/** The fields that identify a metric in CloudWatch. */
export interface MetricIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, unknown>>;
}

/** The alarms of a stack. */
export function alarmsOf(template: Template): AlarmInTemplate[] {
  return Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(({ Properties }) =>
    AlarmInTemplate.parse(Properties),
  );
}

/** The names of the alarms that cause one page together. */
export function alarmsOfOutage(template: Template): string[] {
  const [outage = {}] = Object.values(template.findResources("AWS::CloudWatch::CompositeAlarm"));
  const alarms = template.findResources("AWS::CloudWatch::Alarm");
  const ids = [...JSON.stringify(outage["Properties"].AlarmRule).matchAll(/"Fn::GetAtt":\["(\w+)","Arn"\]/g)];
  return ids.map(([, id = ""]) => AlarmInTemplate.parse(alarms[id]?.["Properties"]).AlarmName);
}

/** The metrics of an alarm: one, or all metrics of its expression. */
export function metricsOfAlarm(alarm: AlarmInTemplate): MetricIdentity[] {
  const metrics = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []) ?? [
    MetricInTemplate.parse(alarm),
  ];
  return metrics.map(({ Namespace, MetricName, Dimensions: dimensions }) => ({
    namespace: Namespace,
    name: MetricName,
    dimensions,
  }));
}
