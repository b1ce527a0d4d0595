import { SQSClient } from "@aws-sdk/client-sqs";

/** The queues are reached where the gateway's other tools reach them, whatever host their URLs name. */
export const queues = new SQSClient({ useQueueUrlAsEndpoint: false });
