import { CfnOutput, Duration, Stack, type App } from "aws-cdk-lib";
import { TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Topic } from "aws-cdk-lib/aws-sns";

import { GatewayApi } from "./constructs/gateway-api.ts";
import { GatewayFunction, type Backend } from "./constructs/gateway-function.ts";
import { GatewayTable } from "./constructs/gateway-table.ts";
import { JobQueue } from "./constructs/job-queue.ts";
import { outputNames } from "./constructs/stack-outputs.ts";
import type { Stage } from "./stages.ts";

/** Batches that one queue may have in work at once. */
const maxConcurrency = {
  transactionalSends: 50,
  marketingSends: 10,
  campaigns: 5,
  refunds: 2,
  webhookDeliveries: 200,
  webhookRetries: 100,
};

/** A webhook call may take ten seconds: alone in its batch it holds up no other job. */
const webhookBatchSize = 1;

/** The whole gateway of one stage. */
export class GatewayStack extends Stack {
  constructor(app: App, id: string, stage: Stage) {
    super(app, id, { terminationProtection: stage.keepData });

    const alarmTopic = new Topic(this, "Alarms");
    const sessionKey = new Secret(this, "SessionKey", {
      description: "Signs the session tokens of customers",
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
    });
    const table = new GatewayTable(this, "Table", stage);

    const sendTimeoutSeconds = 20;
    const transactionalSends = new JobQueue(this, "TransactionalSends", {
      workerTimeoutSeconds: sendTimeoutSeconds,
      alarmDescription:
        "One-time codes or transactional messages could not be brought to an end: customers see them queued. " +
        "Find the job.failed log lines of SendMessage, mend the cause, then redrive the queue.",
      alarmTopic,
    });
    const marketingSends = new JobQueue(this, "MarketingSends", {
      workerTimeoutSeconds: sendTimeoutSeconds,
      alarmDescription:
        "Marketing messages could not be brought to an end: customers see them queued. " +
        "Find the job.failed log lines of SendMessage, mend the cause, then redrive the queue.",
      alarmTopic,
    });
    const campaignTimeoutSeconds = 30;
    const campaigns = new JobQueue(this, "Campaigns", {
      workerTimeoutSeconds: campaignTimeoutSeconds,
      alarmDescription:
        "Runs of campaigns failed again and again: customers see them sending without progress. " +
        "Find the job.failed log lines of RunCampaign and mend the cause; campaigns go on by themselves.",
      alarmTopic,
    });
    const refundTimeoutSeconds = 20;
    const refunds = new JobQueue(this, "Refunds", {
      workerTimeoutSeconds: refundTimeoutSeconds,
      alarmDescription:
        "Customers have not got back the price of messages that failed. " +
        "Find the job.failed log lines of RefundMessage, mend the cause, then redrive the queue.",
      alarmTopic,
    });
    const webhookTimeoutSeconds = 30;
    const webhookDeliveries = new JobQueue(this, "WebhookDeliveries", {
      workerTimeoutSeconds: webhookTimeoutSeconds,
      alarmDescription:
        "Events were not handed out to webhook endpoints, or not tried for the first time, through a fault of ours. " +
        "Find the job.failed log lines of DispatchWebhook, mend the cause, then redrive the queue.",
      alarmTopic,
    });
    const webhookRetries = new JobQueue(this, "WebhookRetries", {
      workerTimeoutSeconds: webhookTimeoutSeconds,
      alarmDescription:
        "Webhook deliveries were not tried again through a fault of ours: customers see them pending. " +
        "Find the job.failed log lines of DispatchWebhook, mend the cause, then redrive the queue.",
      alarmTopic,
    });

    const backend: Backend = {
      stage,
      table,
      sessionKey,
      queues: {
        transactionalSends: transactionalSends.queue,
        marketingSends: marketingSends.queue,
        campaigns: campaigns.queue,
        refunds: refunds.queue,
        webhookDeliveries: webhookDeliveries.queue,
        webhookRetries: webhookRetries.queue,
      },
    };

    const api = new GatewayApi(this, "Api", backend);

    const sendMessage = new GatewayFunction(this, "SendMessage", backend, {
      handlerFile: "workers/send-message",
      access: {
        table: { MESSAGES: ["UpdateItem"], SANDBOX: ["UpdateItem"], STATS: ["UpdateItem"] },
        queues: ["transactionalSends", "marketingSends", "refunds", "webhookDeliveries"],
      },
      timeoutSeconds: sendTimeoutSeconds,
      memoryMegabytes: 512,
    });
    if (stage.carrier === "aws") {
      for (const origin of ["phone-number", "pool", "sender-id"]) {
        const resource = this.formatArn({ service: "sms-voice", resource: origin, resourceName: "*" });
        sendMessage.allow(["sms-voice:SendTextMessage"], resource);
      }
    }
    transactionalSends.feed(sendMessage, maxConcurrency.transactionalSends);
    marketingSends.feed(sendMessage, maxConcurrency.marketingSends);

    const runCampaign = new GatewayFunction(this, "RunCampaign", backend, {
      handlerFile: "workers/run-campaign",
      access: {
        table: {
          CAMPAIGNS: ["GetItem", "UpdateItem"],
          DUE_CAMPAIGNS: ["DeleteItem"],
          CONTACTS: ["GetItem", "Query"],
          WALLET: ["GetItem", "UpdateItem"],
          LEDGER: ["GetItem", "PutItem"],
          MESSAGES: ["PutItem", "Query"],
          STATS: ["GetItem", "UpdateItem"],
        },
        queues: ["campaigns", "marketingSends"],
      },
      timeoutSeconds: campaignTimeoutSeconds,
      memoryMegabytes: 512,
    });
    campaigns.feed(runCampaign, maxConcurrency.campaigns);

    const refundMessage = new GatewayFunction(this, "RefundMessage", backend, {
      handlerFile: "workers/refund-message",
      access: {
        table: {
          MESSAGES: ["GetItem", "UpdateItem"],
          WALLET: ["GetItem", "UpdateItem"],
          LEDGER: ["GetItem", "PutItem"],
        },
      },
      timeoutSeconds: refundTimeoutSeconds,
      memoryMegabytes: 512,
    });
    refunds.feed(refundMessage, maxConcurrency.refunds);

    const dispatchWebhook = new GatewayFunction(this, "DispatchWebhook", backend, {
      handlerFile: "workers/dispatch-webhook",
      access: {
        table: {
          ORG: ["GetItem", "Query", "UpdateItem"],
          DELIVERIES: ["PutItem", "UpdateItem"],
          OPENCALLS: ["GetItem", "UpdateItem"],
          DUE: ["PutItem"],
        },
        queues: ["webhookDeliveries", "webhookRetries"],
      },
      timeoutSeconds: webhookTimeoutSeconds,
      memoryMegabytes: 512,
    });
    webhookDeliveries.feed(dispatchWebhook, maxConcurrency.webhookDeliveries, webhookBatchSize);
    webhookRetries.feed(dispatchWebhook, maxConcurrency.webhookRetries, webhookBatchSize);

    const releaseDue = new GatewayFunction(this, "ReleaseDue", backend, {
      handlerFile: "workers/release-due",
      access: {
        table: { DUE: ["Query", "DeleteItem"], RELEASE: ["GetItem", "UpdateItem"] },
        queues: ["transactionalSends", "marketingSends", "webhookRetries"],
      },
      timeoutSeconds: 50,
      memoryMegabytes: 512,
    });
    const reconcileWallets = new GatewayFunction(this, "ReconcileWallets", backend, {
      handlerFile: "workers/reconcile-wallets",
      access: {
        table: {
          WALLETS: ["Query"],
          ROUND: ["GetItem", "UpdateItem"],
          WALLET: ["GetItem", "UpdateItem"],
          LEDGER: ["GetItem", "PutItem", "Query"],
          MESSAGES: ["GetItem"],
        },
        queues: ["transactionalSends", "marketingSends", "refunds"],
      },
      timeoutSeconds: 50,
      memoryMegabytes: 512,
    });
    const wakeCampaigns = new GatewayFunction(this, "WakeCampaigns", backend, {
      handlerFile: "workers/wake-campaigns",
      access: { table: { DUE_CAMPAIGNS: ["Query"], CAMPAIGNS: ["GetItem"] }, queues: ["campaigns"] },
      timeoutSeconds: 50,
      memoryMegabytes: 512,
    });
    const closeDays = new GatewayFunction(this, "CloseDays", backend, {
      handlerFile: "workers/close-days",
      access: {
        table: {
          WALLETS: ["Query"],
          ROUND: ["GetItem", "UpdateItem"],
          MESSAGES: ["Query"],
          STATS: ["Query", "UpdateItem"],
        },
      },
      timeoutSeconds: 300,
      memoryMegabytes: 512,
    });
    new Rule(this, "EveryHour", {
      schedule: Schedule.rate(Duration.hours(1)),
      targets: [new LambdaFunction(closeDays.lambda, { retryAttempts: 0 })],
    });
    new Rule(this, "EveryMinute", {
      schedule: Schedule.rate(Duration.minutes(1)),
      targets: [releaseDue, reconcileWallets, wakeCampaigns].map(
        ({ lambda }) => new LambdaFunction(lambda, { retryAttempts: 0 }),
      ),
    });

    const scheduled = [
      // What runs each minute has to fail in two stretches of five minutes, what runs each hour only once.
      [
        releaseDue,
        2,
        "Scheduled messages and webhook retries are not released: customers see them wait past their time.",
      ],
      [reconcileWallets, 2, "Wallets are not reconciled: lost debits are not refunded."],
      [wakeCampaigns, 2, "Scheduled campaigns may not start, and interrupted ones not go on."],
      [closeDays, 1, "Days are not closed: the dashboard's numbers of past days may be off by a few."],
    ] as const;
    for (const [worker, evaluationPeriods, meaning] of scheduled) {
      worker.lambda
        .metricErrors({ period: Duration.minutes(5) })
        .createAlarm(worker, "ErrorsAlarm", {
          alarmDescription: `${meaning} Find the error in the function's log and mend the cause; it catches up by itself.`,
          threshold: 1,
          evaluationPeriods,
          treatMissingData: TreatMissingData.NOT_BREACHING,
        })
        .addAlarmAction(new SnsAction(alarmTopic));
    }

    new CfnOutput(this, "ApiUrl", { value: api.apiEndpoint });
    new CfnOutput(this, outputNames.tableName, { value: table.tableName });
    new CfnOutput(this, "AlarmTopicArn", { value: alarmTopic.topicArn });
  }
}
