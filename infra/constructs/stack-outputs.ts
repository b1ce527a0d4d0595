import * as z from "zod/mini";

/** One output of a stack. */
export const StackOutput = z.object({
  name: z.string(),
  value: z.string(),
  description: z.optional(z.string()),
});
export type StackOutput = z.infer<typeof StackOutput>;

/** The names of the outputs that the operator's commands find a stage's API, table and queues by. */
export const outputNames = {
  apiUrl: "ApiUrl",
  tableName: "TableName",
  /** The version and the commit that it was deployed from. */
  release: "Release",
  /** The secret that a restored or adopted table needs. */
  webhookKeyArn: "WebhookKeyArn",
  secondFactorKeyArn: "SecondFactorKeyArn",
  /** Only where messages do not stay for ever: an audit must not miss those that were forgotten. */
  messageRetentionDays: "MessageRetentionDays",
  /** Only where there is one: the operator's commands hold prices against it. */
  minimumMargin: "MinimumMargin",
  /** Only where AWS is the carrier: what its messages are sent with to hear of them, and where its numbers publish. */
  carrierConfigurationSetName: "CarrierConfigurationSetName",
  carrierTopicArn: "CarrierTopicArn",
  /** Of the API's functions, of the workers, and of the requests as API Gateway saw them. */
  logGroups: { api: "ApiLogGroupName", workers: "WorkerLogGroupName", access: "AccessLogGroupName" },
  queueUrl: (queue: string): string => `${capitalized(queue)}QueueUrl`,
  /** Its description says what it means for customers when a job is in there. */
  deadLetterQueueUrl: (queue: string): string => `${capitalized(queue)}DeadLetterQueueUrl`,
};

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
