import type { QueueName } from "../shared/platform/jobs/queue-names.ts";
import { shardCount } from "../shared/platform/jobs/shards.ts";
import {
  changesOptOuts,
  changesWallet,
  checksSender,
  expiresAccounts,
  grant,
  readsPrices,
  tellsOfWallet,
  type Access,
} from "./access.ts";

/** A function that works by itself: on the jobs of its queues, or by the clock. */
export interface Worker {
  readonly access: Access;
  readonly timeoutSeconds: number;
  /** The queues that feed it. */
  readonly queues?: { readonly [Name in QueueName]?: Feed };
  readonly schedule?: Schedule;
  /**
   * Whether its jobs queue jobs for itself. Lambda ends a chain in which a function has run more than 16 times, as a
   * loop that nobody meant: a message that its carrier puts off for half an hour would be stuck for good.
   */
  readonly queuesForItself?: true;
}

export interface Feed {
  /** Batches that may be in work at once. */
  readonly maxConcurrency: number;
  /** Jobs in a batch at the most, 10 where nothing is said. */
  readonly batchSize?: number;
  /** How old its oldest job may become. A job may wait a quarter of an hour on its queue until its time has come. */
  readonly maxAgeMinutes: number;
  /** What it means for customers when its jobs end up in the dead-letter queue. */
  readonly alarm: string;
}

export interface Schedule {
  readonly everyMinutes: number;
  /** In how many shards, each called on its own; without it there is one call. */
  readonly shards?: number;
  /** What it means for customers when it fails. */
  readonly alarm: string;
}

/** A webhook call may take ten seconds: alone in its batch it holds up no other job. */
const webhookBatchSize = 1;

/**
 * All functions that no request calls. A row's name is the function's, and its handler is
 * `functions/workers/<name-in-kebab-case>.ts`; functions, queues, schedules, permissions and alarms come from here.
 */
export const workers = {
  sendMessage: {
    timeoutSeconds: 20,
    queuesForItself: true,
    access: {
      table: {
        // What may have changed since the message was accepted: whose its sender ID is, and who has opted out.
        CONTACTS: ["GetItem"],
        MESSAGES: ["GetItem", "UpdateItem"],
        OPT_OUTS: ["GetItem"],
        ...readsPrices,
        ORG: ["GetItem"],
        SANDBOX: ["UpdateItem"],
        // Which carriers there are, whether they work, and when they take the next message.
        CARRIERS: ["Query"],
        BREAKERS: ["Query", "UpdateItem"],
        PACE: ["UpdateItem"],
        SENDER: ["GetItem"],
        SENDING: ["GetItem"],
        STATS: ["UpdateItem"],
      },
      transactions: [{ MESSAGES: ["UpdateItem"], DUE: ["PutItem"] }],
      // The sandbox reports what became of messages, as other carriers do over the API.
      queues: ["transactionalSends", "marketingSends", "refunds", "webhookDeliveries", "carrierCallbacks"],
      carrier: true,
    },
    queues: {
      transactionalSends: {
        maxConcurrency: 50,
        maxAgeMinutes: 20,
        alarm:
          "One-time codes or transactional messages could not be brought to an end: customers see them queued.",
      },
      marketingSends: {
        maxConcurrency: 10,
        maxAgeMinutes: 60,
        alarm: "Marketing messages could not be brought to an end: customers see them queued.",
      },
    },
  },
  runCampaign: {
    timeoutSeconds: 30,
    queuesForItself: true,
    access: grant(changesWallet, tellsOfWallet, {
      table: {
        ...checksSender,
        ...readsPrices,
        CAMPAIGNS: ["GetItem", "UpdateItem"],
        CONTACTS: ["GetItem", "Query"],
        DUE: ["PutItem"],
        // How much marketing a number has got.
        LIMIT: ["UpdateItem"],
        MESSAGES: ["DeleteItem", "Query"],
        STATS: ["GetItem", "UpdateItem"],
      },
      transactions: [
        { LEDGER: ["PutItem"], MESSAGES: ["PutItem"], CAMPAIGNS: ["UpdateItem"] },
        { CAMPAIGNS: ["UpdateItem"], DUE: ["PutItem"] },
      ],
      queues: ["campaigns", "marketingSends"],
    }),
    queues: {
      campaigns: {
        maxConcurrency: 5,
        maxAgeMinutes: 30,
        alarm:
          "Runs of campaigns failed again and again: customers see them sending without progress. " +
          "Campaigns go on by themselves, once the cause is fixed.",
      },
    },
  },
  refundMessage: {
    timeoutSeconds: 20,
    access: grant(changesWallet, {
      table: { MESSAGES: ["GetItem"] },
      transactions: [{ WALLET: ["UpdateItem"], LEDGER: ["PutItem"], MESSAGES: ["UpdateItem"] }],
    }),
    queues: {
      refunds: {
        maxConcurrency: 2,
        maxAgeMinutes: 30,
        alarm: "Customers have not got back the price of messages that failed.",
      },
    },
  },
  sendEmail: {
    timeoutSeconds: 20,
    access: {
      table: {
        USER: ["GetItem"],
        EMAIL: ["GetItem"],
        INVITATION: ["GetItem"],
        ORG: ["GetItem"],
        RIGHTS: ["GetItem"],
        EMAIL_TOKEN: ["PutItem"],
        EMAIL_SUPPRESSION: ["GetItem", "UpdateItem"],
        SENT_EMAIL: ["UpdateItem"],
      },
      email: true,
    },
    queues: {
      emails: {
        maxConcurrency: 2,
        maxAgeMinutes: 20,
        alarm:
          "Emails were not sent: customers wait for links to verify theirs, or to get in again. Or it is not noted which " +
          "addresses take none.",
      },
    },
  },
  recordCallback: {
    timeoutSeconds: 20,
    queuesForItself: true,
    access: grant(changesOptOuts, {
      table: {
        INBOUND: ["GetItem", "DeleteItem"],
        MESSAGES: ["UpdateItem"],
        NUMBERS: ["GetItem"],
        STATS: ["UpdateItem"],
      },
      transactions: [{ INBOUND: ["PutItem"] }],
      // A message to a number that many share is worked on in several jobs.
      queues: ["carrierCallbacks", "webhookDeliveries"],
    }),
    queues: {
      carrierCallbacks: {
        maxConcurrency: 20,
        maxAgeMinutes: 20,
        alarm:
          "Receipts or replies of carriers were not recorded: customers see messages pending, and a STOP may not be heeded.",
      },
    },
  },
  dispatchWebhook: {
    timeoutSeconds: 30,
    queuesForItself: true,
    access: {
      table: {
        ORG: ["GetItem", "Query", "UpdateItem"],
        WEBHOOK_SECRETS: ["GetItem"],
        DELIVERIES: ["PutItem", "UpdateItem", "DeleteItem"],
        // Whether what an event is about has been erased meanwhile.
        INBOUND: ["GetItem"],
        MESSAGES: ["GetItem"],
        OPENCALLS: ["GetItem", "UpdateItem"],
        DUE: ["PutItem"],
      },
      queues: ["emails", "webhookDeliveries", "webhookRetries"],
      webhookKey: true,
    },
    queues: {
      webhookDeliveries: {
        maxConcurrency: 200,
        batchSize: webhookBatchSize,
        maxAgeMinutes: 20,
        alarm:
          "Events were not handed out to webhook endpoints, or not tried for the first time, through a fault of ours.",
      },
      webhookRetries: {
        maxConcurrency: 100,
        batchSize: webhookBatchSize,
        maxAgeMinutes: 30,
        alarm: "Webhook deliveries were not tried again through a fault of ours: customers see them pending.",
      },
    },
  },
  releaseScheduledJobs: {
    timeoutSeconds: 50,
    access: {
      table: { DUE: ["GetItem", "Query", "DeleteItem"], RELEASE: ["GetItem", "UpdateItem"] },
      transactions: [{ DUE: ["PutItem", "DeleteItem"] }],
      queues: [
        "campaigns",
        "transactionalSends",
        "marketingSends",
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
        "Scheduled messages, campaigns and webhook retries are not released: customers see them wait past their time.",
    },
  },
  reconcileWallets: {
    timeoutSeconds: 50,
    access: grant(changesWallet, tellsOfWallet, {
      agenda: true,
      table: {
        LEDGER: ["Query"],
        MESSAGES: ["GetItem", "Query", "UpdateItem", "DeleteItem"],
        STATS: ["UpdateItem"],
      },
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
      agenda: true,
      table: { MARGINS: ["PutItem"], MESSAGES: ["Query"], STATS: ["UpdateItem"] },
    },
    schedule: {
      everyMinutes: 60,
      shards: shardCount,
      alarm: "Days are not closed: the dashboard's numbers of past days may be off by a few.",
    },
  },
  expireAccounts: {
    timeoutSeconds: 300,
    access: expiresAccounts,
    schedule: {
      everyMinutes: 60,
      alarm: "Unverified accounts are not deleted after their week: their addresses stay taken.",
    },
  },
} as const satisfies Record<string, Worker>;
