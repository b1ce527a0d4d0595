import * as z from "zod/mini";

/** One output of a stack. */
export const StackOutput = z.object({
  name: z.string(),
  value: z.string(),
  description: z.optional(z.string()),
});
export type StackOutput = z.infer<typeof StackOutput>;

/** The names of the outputs, by which the operator's commands find a stage's API, table and queues. */
export const outputNames = {
  apiUrl: "ApiUrl",
  tableName: "TableName",
  /** Absent in the stacks of releases without other currencies than the default one. */
  currency: "Currency",
  /** The PDFs of invoices. */
  documentsBucketName: "DocumentsBucketName",
  /** The settings of payments in JSON, without the text on bank transfers. An output holds 4 KB. */
  paymentSettings: "PaymentSettings",
  /** The topics of all alarms, and of those that wake a person. */
  alarmTopicArn: "AlarmTopicArn",
  pageTopicArn: "PageTopicArn",
  /** The stage's name. The stack on this machine has the same name for all stages. Absent in the stacks of 0.4.0. */
  stageName: "StageName",
  /** The version and the commit that it was deployed from. */
  release: "Release",
  /** The secret that a restored or adopted table needs. */
  webhookKeyArn: "WebhookKeyArn",
  secondFactorKeyArn: "SecondFactorKeyArn",
  /** Only where messages expire: the verification of a wallet must not miss these. */
  messageRetentionDays: "MessageRetentionDays",
  /** Only where there is one: the operator's commands check prices against it. */
  minimumMargin: "MinimumMargin",
  /** Only where customers get notices: the operator's commands schedule them. */
  priceNoticeDays: "PriceNoticeDays",
  /** Only where there is one: above this amount, movements of money need a second operator. */
  secondPersonAbove: "SecondPersonAbove",
  /** Only where AWS is the carrier: for delivery receipts of its messages, and for inbound messages of its numbers. */
  carrierConfigurationSetName: "CarrierConfigurationSetName",
  carrierTopicArn: "CarrierTopicArn",
  /** The logs of the API's functions, of the workers, and of API Gateway. */
  logGroups: { api: "ApiLogGroupName", workers: "WorkerLogGroupName", access: "AccessLogGroupName" },
  queueUrl: (queue: string): string => `${capitalized(queue)}QueueUrl`,
  /** Its description has the meaning of a dead letter for customers. */
  deadLetterQueueUrl: (queue: string): string => `${capitalized(queue)}DeadLetterQueueUrl`,
};

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
