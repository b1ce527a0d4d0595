import { SQSClient } from "@aws-sdk/client-sqs";

/** Uses the configured endpoint, not the host in a queue's URL. */
export const queues = new SQSClient({ useQueueUrlAsEndpoint: false });
