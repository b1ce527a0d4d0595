import { shardCount } from "../shared/platform/jobs/shards.ts";
import {
  changesOptOuts,
  changesWallet,
  checksSender,
  grant,
  notifiesOfWallet,
  processesPayments,
  readsPrices,
} from "./grants.ts";
import type { Worker } from "./worker.ts";

/** A webhook call may take ten seconds: alone in its batch it delays no other job. */
const webhookBatchSize = 1;

const messageFamilies = ["CAMPAIGNS", "DELIVERIES", "INBOUND", "MESSAGES", "STATS"] as const;
const settingFamilies = ["BILLING", "CONTACTS", "HELD", "KYC", "OPT_OUTS", "PRICES", "TEMPLATES"] as const;
const peopleFamilies = [
  "CREDENTIALS",
  "EMAIL_TOKEN",
  "INVITATION",
  "KEY_USES",
  "MEMBERS",
  "ORG",
  "USER",
] as const;
/** The families whose partitions are emptied when an account is erased. */
const erasedPartitions = [...messageFamilies, ...settingFamilies, ...peopleFamilies] as const;

/**
 * All functions that no request calls. A row's name is the function's, and its handler is
 * `functions/workers/<name-in-kebab-case>.ts`; functions, queues, schedules, permissions and alarms come from here.
 */
export const workers = {
  sendMessage: {
    timeoutSeconds: 20,
    queuesForItself: true,
    access: grant(readsPrices, {
      // The owner of the sender ID and the opt-outs may have changed since the API accepted the message.
      GetItem: ["MESSAGES", "OPT_OUTS", "ORG", "SENDER", "SENDING"],
      Query: ["CARRIERS", "BREAKERS"],
      // Also the time at which each carrier accepts its next message.
      UpdateItem: ["MESSAGES", "SANDBOX", "BREAKERS", "PACE", "STATS"],
      transactions: [{ PutItem: ["DUE"], UpdateItem: ["MESSAGES"] }],
      // The sandbox reports the outcome of messages, as other carriers do over the API.
      queues: ["transactionalSends", "marketingSends", "refunds", "webhookDeliveries", "carrierCallbacks"],
      carrier: true,
    }),
    queues: {
      transactionalSends: {
        maxConcurrency: 50,
        maxAgeMinutes: 20,
        alarm: "One-time codes or transactional messages could not be finalized: customers see them queued.",
      },
      marketingSends: {
        maxConcurrency: 10,
        maxAgeMinutes: 60,
        alarm: "Marketing messages could not be finalized: customers see them queued.",
      },
    },
  },
  runCampaign: {
    timeoutSeconds: 30,
    queuesForItself: true,
    access: grant(changesWallet, notifiesOfWallet, checksSender, readsPrices, {
      GetItem: ["CAMPAIGNS", "CONTACTS", "STATS"],
      Query: ["CONTACTS", "MESSAGES"],
      PutItem: ["DUE"],
      // LIMIT counts the marketing messages that a number has received.
      UpdateItem: ["CAMPAIGNS", "LIMIT", "STATS"],
      DeleteItem: ["MESSAGES"],
      transactions: [
        { PutItem: ["LEDGER", "MESSAGES"], UpdateItem: ["CAMPAIGNS"] },
        { PutItem: ["DUE"], UpdateItem: ["CAMPAIGNS"] },
      ],
      queues: ["campaigns", "marketingSends"],
    }),
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
  refundMessage: {
    timeoutSeconds: 20,
    access: grant(changesWallet, {
      GetItem: ["MESSAGES"],
      transactions: [{ PutItem: ["LEDGER"], UpdateItem: ["WALLET", "MESSAGES"] }],
    }),
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
    access: processesPayments,
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
    access: grant(processesPayments, { pendingWork: true }),
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm: "Payments whose event was lost are not applied, and refunds by the operator are not made.",
    },
  },
  comparePayments: {
    timeoutSeconds: 300,
    access: grant(processesPayments, { Query: ["PAYMENTS", "WALLETS"] }),
    schedule: {
      everyMinutes: 24 * 60,
      alarm: "Payments are not compared with those of the provider: a missing payment stays unnoticed.",
    },
  },
  sendEmail: {
    timeoutSeconds: 20,
    access: {
      GetItem: [
        "BILLING",
        "EMAIL",
        "EMAIL_SUPPRESSION",
        "INVITATION",
        "MEMBERS",
        "ORG",
        "PAYMENTS",
        "RIGHTS",
        "USER",
      ],
      Query: ["MEMBERS"],
      PutItem: ["EMAIL_TOKEN"],
      UpdateItem: ["EMAIL_SUPPRESSION", "LIMIT", "SENT_EMAIL"],
      brand: true,
      email: true,
      links: true,
    },
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
    access: grant(changesOptOuts, {
      GetItem: ["INBOUND", "NUMBERS"],
      UpdateItem: ["MESSAGES", "STATS"],
      PutItem: ["INBOUND"],
      DeleteItem: ["INBOUND"],
      transactions: [{ PutItem: ["INBOUND"] }],
      // Several jobs process a message to a number that many organizations share.
      queues: ["carrierCallbacks", "webhookDeliveries"],
    }),
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
    access: {
      // The subject of an event may have been erased meanwhile.
      GetItem: ["ORG", "WEBHOOK_SECRETS", "INBOUND", "MESSAGES", "INFLIGHT"],
      Query: ["ORG"],
      PutItem: ["DELIVERIES", "DUE"],
      UpdateItem: ["ORG", "DELIVERIES", "INFLIGHT"],
      DeleteItem: ["DELIVERIES"],
      queues: ["emails", "webhookDeliveries", "webhookRetries"],
      webhookKey: true,
    },
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
    access: {
      GetItem: ["DUE", "RELEASE"],
      Query: ["DUE"],
      UpdateItem: ["RELEASE"],
      DeleteItem: ["DUE"],
      transactions: [{ PutItem: ["DUE"], DeleteItem: ["DUE"] }],
      queues: [
        "campaigns",
        "transactionalSends",
        "marketingSends",
        "payments",
        "webhookDeliveries",
        "webhookRetries",
        "refunds",
        "emails",
      ],
    },
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm:
        "Scheduled messages, campaigns and webhook retries are not released: customers see them wait after their time.",
    },
  },
  reconcileWallets: {
    timeoutSeconds: 50,
    access: grant(changesWallet, notifiesOfWallet, {
      pendingWork: true,
      GetItem: ["MESSAGES"],
      Query: ["LEDGER", "MESSAGES"],
      UpdateItem: ["MESSAGES", "STATS"],
      DeleteItem: ["MESSAGES"],
      queues: ["transactionalSends", "marketingSends"],
    }),
    schedule: {
      everyMinutes: 1,
      shards: shardCount,
      alarm: "Wallets are not reconciled: lost debits are not refunded.",
    },
  },
  closeDays: {
    timeoutSeconds: 300,
    access: {
      pendingWork: true,
      Query: ["MESSAGES"],
      PutItem: ["MARGINS", "STATS"],
      UpdateItem: ["STATS"],
    },
    schedule: {
      everyMinutes: 60,
      shards: shardCount,
      alarm: "Days are not closed: the dashboard's numbers of past days may be off by a few.",
    },
  },
  expireAccounts: {
    timeoutSeconds: 300,
    access: grant(
      { Query: erasedPartitions, DeleteItem: erasedPartitions },
      { DeleteItem: ["EMAIL", "KEY", "INFLIGHT", "REVIEWS", "RIGHTS", "WALLET", "WALLETS"] },
      {
        pendingWork: true,
        GetItem: ["ORG", "USER"],
        Query: ["NUMBERS", "PAYMENTS"],
        UpdateItem: ["PAYMENTS", "SENDER"],
        DeleteItem: ["SENDER", "WEBHOOK_SECRETS"],
        transactions: [{ UpdateItem: ["ORG", "WALLET"] }],
      },
    ),
    schedule: {
      everyMinutes: 60,
      alarm: "Unverified accounts are not deleted after seven days: their addresses stay in use.",
    },
  },
} as const satisfies Record<string, Worker>;
