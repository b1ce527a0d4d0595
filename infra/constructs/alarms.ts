import { Duration, Validations, type NestedStack } from "aws-cdk-lib";
import {
  Alarm,
  ComparisonOperator,
  Metric,
  Stats,
  TreatMissingData,
  type IAlarm,
  type IMetric,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import type { Construct } from "constructs";

import { metricsNamespace, type MetricName } from "../../shared/platform/metrics.ts";
import type { Stage } from "../stages/stage.ts";

/** How long CloudWatch lets the description of an alarm be. */
const maxDescriptionLength = 1_024;

/** The stretches that most alarms count in. */
export const alarmPeriod = Duration.minutes(5);

/** A metric that is counted from the access log, and by no function. */
export const throttledRequests = "ThrottledRequests";

export interface AlarmProps {
  /** The name of its entry in `infra/RUNBOOK.md`. */
  readonly kind: string;
  /** Which of them, where there are several of the kind. */
  readonly subject?: string;
  /** What it means for customers. */
  readonly means: string;
  readonly firstStep: string;
  /** What to type first. */
  readonly command: string;
  readonly metric: IMetric;
  /** It rings when the metric has come to this. */
  readonly threshold: number;
  /** Whether it rings below the threshold instead, and where there is no data. */
  readonly isMinimum?: true;
  /** How many stretches of the metric's period are looked at, 1 where nothing is said. */
  readonly stretches?: number;
  /** In how many of them it has to be so, all where nothing is said. */
  readonly inStretches?: number;
  /** What is made of stretches without data: nothing is wrong, where nothing is said. */
  readonly missingData?: TreatMissingData;
  /** Whether it tells nobody, because something else looks at it. */
  readonly isSilent?: true;
  /** Where it is, if that is not the stack of the alarms: beside what it watches, if that depends on it. */
  readonly scope?: Construct;
}

export interface AlarmsProps {
  readonly stage: Stage;
  /** The stack that the alarms are in. The topic is not: with another one each address would have to confirm again. */
  readonly monitoring: NestedStack;
}

/**
 * The topic that a stage's alarms go to, with those who read it. All alarms are made by its `add`: each is named after
 * its stage and its entry in the runbook, says what to do, and says when it is over.
 */
export class Alarms extends Topic {
  readonly all: IAlarm[] = [];
  readonly monitoring: NestedStack;

  constructor(scope: Construct, id: string, { stage: { alarmEmails }, monitoring }: AlarmsProps) {
    super(scope, id, { enforceSSL: true });
    this.monitoring = monitoring;
    // A policy of its own takes the place of the one that lets the account's alarms publish: without this they are mute.
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("cloudwatch.amazonaws.com")],
        actions: ["sns:Publish"],
        resources: [this.topicArn],
        conditions: { StringEquals: { "aws:SourceAccount": this.stack.account } },
      }),
    );
    for (const email of alarmEmails) {
      Validations.of(this.addSubscription(new EmailSubscription(email))).acknowledge({
        id: "Serverless-SNSRedrivePolicy",
        reason:
          "A mail that its server refuses for hours would be as late in a queue. The dashboard shows what rings.",
      });
    }
  }

  /**
   * Adds an alarm. Its name is its own, for the mail that it sends has it as the subject. An alarm goes with its stack,
   * so that none is left behind with the name, and a name that changes is another resource. One that moves to another
   * stack has to get another name: it is made there before it goes here, and no two have the same.
   * @throws Error when its text is too long for CloudWatch
   */
  add(props: AlarmProps): Alarm {
    const { kind, subject, means, firstStep, command, isMinimum, stretches = 1, inStretches } = props;
    const id = subject === undefined ? kind : `${kind}-${subject}`;
    const alarmDescription = `${means} First: ${firstStep} Run: ${command} More: infra/RUNBOOK.md#${kind}`;
    if (alarmDescription.length > maxDescriptionLength)
      throw new Error(`the text of the alarm ${id} is too long`);
    const alarm = new Alarm(props.scope ?? this.monitoring, id, {
      alarmName: `${this.stack.stackName}/${id}`,
      alarmDescription,
      metric: props.metric,
      threshold: props.threshold,
      comparisonOperator:
        isMinimum === true
          ? ComparisonOperator.LESS_THAN_THRESHOLD
          : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: stretches,
      datapointsToAlarm: inStretches ?? stretches,
      treatMissingData:
        props.missingData ??
        (isMinimum === true ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING),
    });
    if (props.isSilent === true) return alarm;
    const action = new SnsAction(this);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
    this.all.push(alarm);
    return alarm;
  }
}

/** What the gateway itself counts, summed up over a stretch of time. */
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
