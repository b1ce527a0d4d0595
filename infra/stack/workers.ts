import { shardCount } from "../../shared/platform/jobs/shards.ts";
import type { Worker } from "./worker.ts";

/** A webhook call may take ten seconds: alone in its batch it delays no other job. */
const webhookBatchSize = 1;

/**
 * All functions that no request calls. A row's name is the function's, and its handler is
 * `functions/workers/<name-in-kebab-case>.ts`; functions, queues, schedules and alarms come from here.
 */
export const workers = {
  sendMessage: {
    timeoutSeconds: 20,
    queuesForItself: true,
    queues: {
      transactionalSends: {
        maxConcurrency: 50,
        maxAgeMinutes: 20,
        isUrgent: true,
        alarm: "One-time codes or transactional messages could not be finalized: customers see them queued.",
      },
      marketingSends: {
        maxConcurrency: 10,
        batchWindowSeconds: 1,
        maxAgeMinutes: 60,
        alarm: "Marketing messages could not be finalized: customers see them queued.",
      },
    },
  },
  runCampaign: {
    timeoutSeconds: 30,
    queuesForItself: true,
    queues: {
      campaigns: {
        maxConcurrency: 5,
        maxAgeMinutes: 30,
        alarm:
          "Runs of campaigns fail repeatedly: customers see them sending without progress. " +
          "Campaigns continue by themselves once the cause is fixed.",
      },
    },
  },
  exportRows: {
    timeoutSeconds: 60,
    queuesForItself: true,
    queues: {
      exports: {
        maxConcurrency: 2,
        batchSize: 1,
        maxAgeMinutes: 30,
        alarm:
          "Exports of lists as CSV stop: customers see them running without progress. They continue when the queue is redriven.",
      },
    },
  },
  closeBooks: {
    timeoutSeconds: 120,
    queuesForItself: true,
    queues: {
      books: {
        maxConcurrency: 2,
        batchSize: 1,
        maxAgeMinutes: 30,
        alarm:
          "The books of a month are not closed: `books close` waits without progress. It continues when the queue is redriven.",
      },
    },
  },
  writeAuditEntries: {
    timeoutSeconds: 20,
    queues: {
      auditEntries: {
        maxConcurrency: 2,
        maxAgeMinutes: 15,
        alarm: "Operators' commands are missing in the audit log, although they were executed.",
      },
    },
  },
  refundMessage: {
    timeoutSeconds: 20,
    queues: {
      refunds: {
        maxConcurrency: 2,
        maxAgeMinutes: 30,
        alarm: "Failed messages are not refunded: customers have still paid for them.",
      },
    },
  },
  processPayment: {
    timeoutSeconds: 30,
    queuesForItself: true,
    queues: {
      payments: {
        maxConcurrency: 5,
        maxAgeMinutes: 30,
        alarm:
          "Payments, refunds or disputes were not applied: customers have paid and miss the money, or recharges do not start.",
      },
    },
  },
  visitPayments: {
    timeoutSeconds: 50,
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm: "Payments whose event was lost are not applied, and refunds by the operator are not made.",
    },
  },
  comparePayments: {
    timeoutSeconds: 300,
    schedule: {
      everyMinutes: 24 * 60,
      alarm: "Payments are not compared with those of the provider: a missing payment stays unnoticed.",
    },
  },
  sendEmail: {
    timeoutSeconds: 20,
    queues: {
      emails: {
        maxConcurrency: 2,
        maxAgeMinutes: 20,
        alarm:
          "Emails were not sent: customers wait for links to verify their address or to reset their password. " +
          "Or bounces and complaints were not recorded.",
      },
    },
  },
  recordCallback: {
    timeoutSeconds: 20,
    queuesForItself: true,
    queues: {
      carrierCallbacks: {
        maxConcurrency: 20,
        maxAgeMinutes: 20,
        alarm:
          "Delivery receipts or inbound messages were not recorded: customers see messages pending, and a STOP may have " +
          "no effect yet.",
      },
    },
  },
  dispatchWebhook: {
    timeoutSeconds: 30,
    queuesForItself: true,
    queues: {
      webhookDeliveries: {
        maxConcurrency: 200,
        batchSize: webhookBatchSize,
        maxAgeMinutes: 20,
        alarm:
          "Events were not fanned out to webhooks, or their first attempt was not made, because of an error in the gateway.",
      },
      webhookRetries: {
        maxConcurrency: 100,
        batchSize: webhookBatchSize,
        maxAgeMinutes: 30,
        alarm:
          "Webhook deliveries were not retried because of an error in the gateway: customers see them pending.",
      },
    },
  },
  releaseScheduledJobs: {
    timeoutSeconds: 50,
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm:
        "Scheduled messages, campaigns and webhook retries are not released: customers see them wait after their time.",
    },
  },
  checkEdge: { timeoutSeconds: 20, schedule: { everyMinutes: 2 } },
  reconcileWallets: {
    timeoutSeconds: 50,
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm: "Wallets are not reconciled: lost debits are not refunded.",
    },
  },
  closeDays: {
    timeoutSeconds: 300,
    schedule: {
      // A run uses nearly all of this time if there is enough to count.
      everyMinutes: 5,
      shards: shardCount,
      alarm: "Days are not closed: the dashboard's numbers of past days may be off by a few.",
    },
  },
  watchSpending: {
    timeoutSeconds: 300,
    schedule: {
      everyMinutes: 15,
      shards: shardCount,
      alarm: "Unusual spending of customers stays unnoticed, and the operators get no daily email.",
    },
  },
  watchCarriers: {
    timeoutSeconds: 120,
    schedule: {
      everyMinutes: 5,
      alarm: "Carriers are not compared with their last week: messages that do not arrive stay unnoticed.",
    },
  },
  expireAccounts: {
    timeoutSeconds: 300,
    schedule: {
      everyMinutes: 60,
      alarm: "Unverified accounts are not deleted after seven days: their addresses stay in use.",
    },
  },
  sealAuditLogs: {
    timeoutSeconds: 300,
    schedule: {
      everyMinutes: 60,
      alarm: "New entries of audit logs are not sealed: a later change of them would not show.",
    },
  },
} as const satisfies Record<string, Worker>;
