import { Duration, Validations, type NestedStack } from "aws-cdk-lib";
import {
  Alarm,
  AlarmRule,
  AlarmState,
  ComparisonOperator,
  CompositeAlarm,
  Metric,
  Stats,
  TreatMissingData,
  type AlarmBase,
  type IAlarm,
  type IMetric,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription, UrlSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";

import { metricsNamespace, type MetricName } from "../../../shared/platform/metrics.ts";
import type { Stage } from "../stages/stage.ts";

/** The longest description that CloudWatch accepts. */
const maxDescriptionLength = 1_024;

/** The period of most alarms. */
export const alarmPeriod = Duration.minutes(5);
export const quarterOfAnHour = Duration.minutes(15);

/** A metric that a filter of the access log counts. */
export const throttledRequests = "ThrottledRequests";

/**
 * A `page` wakes a person. Those of `outage` wake one together, because an outage of DynamoDB or Lambda fires several of
 * them. A `ticket` is for the next morning.
 */
export type Severity = "outage" | "page" | "ticket";

export interface AlarmProps {
  /** The queue or the worker, where there are several alarms of the kind. */
  readonly subject?: string;
  /** Its meaning for customers. */
  readonly means: string;
  readonly firstStep: string;
  /** The first command to run. */
  readonly command: string;
  readonly metric: IMetric;
  /** It fires when the metric reaches this, 1 by default. */
  readonly threshold?: number;
  /** Whether it fires below the threshold instead, and where there is no data. */
  readonly isMinimum?: true;
  /** The number of periods that it looks at, 1 by default. */
  readonly evaluationPeriods?: number;
  /** The number of these periods that have to reach the threshold, all by default. */
  readonly datapointsToAlarm?: number;
  /** The meaning of periods without data: by default they are below the threshold. */
  readonly missingData?: TreatMissingData;
  /** Whether it notifies no one, because CodeDeploy watches it. */
  readonly isSilent?: true;
  /** The scope that contains it, by default the nested stack of the alarms. */
  readonly scope?: Construct;
}

export interface AlarmsProps {
  readonly stage: Stage;
  /** The stack of the alarms. The topic is in the root stack: after a replacement each address would have to confirm again. */
  readonly monitoring: NestedStack;
}

/**
 * The topic of a stage's alarms, with its subscribers. Its `add` creates all alarms. Each has the name of its stage and
 * of its entry in the runbook, describes the first step, and notifies the subscribers when it ends. Those that wake a person
 * also go to the topic `pages`.
 */
export class Alarms extends Topic {
  readonly all: IAlarm[] = [];
  readonly #ofOutages: IAlarm[] = [];
  readonly #runbook: string;
  readonly monitoring: NestedStack;
  readonly pages: Topic;

  constructor(scope: Construct, id: string, { stage, monitoring }: AlarmsProps) {
    super(scope, id, { enforceSSL: true });
    const { alarmEmails, pagerUrl, runbookUrl } = stage;
    this.#runbook = runbookUrl ?? "infra/RUNBOOK.md";
    this.monitoring = monitoring;
    this.pages = new Topic(scope, "Pages", { enforceSSL: true });
    // This policy replaces the default one, which lets the account's alarms publish.
    const conditions = { StringEquals: { "aws:SourceAccount": this.stack.account } };
    const service = new ServicePrincipal("cloudwatch.amazonaws.com", { conditions });
    for (const topic of [this, this.pages]) topic.grantPublish(service);
    if (pagerUrl !== undefined) {
      Validations.of(this.pages.addSubscription(new UrlSubscription(pagerUrl))).acknowledge({
        id: "Serverless-SNSRedrivePolicy",
        reason:
          "SNS repeats a call for an hour. A page from a queue would be later still, and emails report it too.",
      });
    }
    for (const email of alarmEmails) {
      Validations.of(this.addSubscription(new EmailSubscription(email))).acknowledge({
        id: "Serverless-SNSRedrivePolicy",
        reason:
          "An email that its server rejects for hours would be as late from a queue. The dashboard shows all alarms that fire.",
      });
    }
  }

  /**
   * Adds an alarm. Its name is fixed, because it is the subject of the email. An alarm that moves to another stack needs
   * another name: CloudFormation creates it there before it deletes it here, and names are unique.
   * @param kind the name of its entry in `infra/RUNBOOK.md`
   * @throws Error when its text is too long for CloudWatch
   */
  add(kind: string, severity: Severity, props: AlarmProps): Alarm {
    const { subject, means, firstStep, command, isMinimum, evaluationPeriods = 1 } = props;
    const id = subject === undefined ? kind : `${kind}-${subject}`;
    const alarmDescription = `${means} First: ${firstStep} Run: ${command} More: ${this.#runbook}#${kind}`;
    if (alarmDescription.length > maxDescriptionLength)
      throw new Error(`the text of the alarm ${id} is too long`);
    const alarm = new Alarm(props.scope ?? this.monitoring, id, {
      alarmName: `${this.stack.stackName}/${id}`,
      alarmDescription,
      metric: props.metric,
      threshold: props.threshold ?? 1,
      comparisonOperator:
        isMinimum === true
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods,
      datapointsToAlarm: props.datapointsToAlarm ?? evaluationPeriods,
      treatMissingData:
        props.missingData ??
        (isMinimum === true ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING),
    });
    if (props.isSilent === true) return alarm;
    for (const topic of severity === "page" ? [this, this.pages] : [this]) this.#notify(alarm, topic);
    if (severity === "outage") this.#ofOutages.push(alarm);
    this.all.push(alarm);
    return alarm;
  }

  /** Adds the page for an outage, after all alarms. It lasts as long as one of its alarms does. */
  addOutage(): void {
    const outage = new CompositeAlarm(this.monitoring, "outage", {
      compositeAlarmName: `${this.stack.stackName}/outage`,
      alarmDescription:
        "Customers cannot rely on the gateway. It is one page, however many alarms the outage fires. First: see on the " +
        `dashboard or in the emails which alarms fire. More: ${this.#runbook}#outages`,
      alarmRule: AlarmRule.anyOf(
        ...this.#ofOutages.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM)),
      ),
    });
    this.#notify(outage, this.pages);
  }

  #notify(alarm: AlarmBase, topic: Topic): void {
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }
}

/** Returns a metric of the gateway itself, as the sum over a period. */
export function countedMetric(
  stage: Stage,
  metricName: MetricName | typeof throttledRequests,
  period = alarmPeriod,
): Metric {
  const dimensionsMap = { stage: stage.name };
  return new Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap,
    statistic: Stats.SUM,
    period,
  });
}
