import { CampaignJob } from "../../shared/audience/campaigns/campaign-job.ts";
import * as campaigns from "../../shared/audience/campaigns/cancel.ts";
import { launchCampaign, resumeCampaign } from "../../shared/audience/campaigns/launch.ts";
import * as pausing from "../../shared/audience/campaigns/pause.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import type { OutgoingMessage, SubmitResult } from "../../shared/carriers/carrier.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";
import { newMessage } from "../../shared/messages/accept/new-message.ts";
import { placeOf, placesOfDebits } from "../../shared/messages/accept/place.ts";
import { countOutcomes } from "../../shared/messages/counts/counts.ts";
import { recount, type Look } from "../../shared/messages/counts/recount.ts";
import { MessageJob } from "../../shared/messages/message/message-job.ts";
import * as messages from "../../shared/messages/outcome/cancel.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { reconcileWallets } from "../../shared/messages/reconciliation/run.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { blockedCache } from "../../shared/money/prices/blocked-destinations.ts";
import { rateCardCache } from "../../shared/money/prices/current.ts";
import { readPrices } from "../../shared/money/prices/prices.ts";
import { publishRateCard } from "../../shared/money/prices/publish.ts";
import { findCurrentVersion } from "../../shared/money/prices/record.ts";
import * as wallet from "../../shared/money/wallet/adjust.ts";
import { newWallet } from "../../shared/money/wallet/record.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { AwsClient } from "../../shared/platform/aws/client.ts";
import { DynamoDb } from "../../shared/platform/aws/dynamodb.ts";
import { AwsError } from "../../shared/platform/aws/errors.ts";
import { mayRepeat, retryKindOf, type RetryRules } from "../../shared/platform/aws/retry.ts";
import { Sqs } from "../../shared/platform/aws/sqs.ts";
import { dayMs, minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { once } from "../../shared/platform/http/idempotency.ts";
import { releaseScheduledJobs } from "../../shared/platform/jobs/scheduler.ts";
import { shardOf } from "../../shared/platform/jobs/shards.ts";
import { queueNames, type QueueName } from "../../shared/platform/queue-names.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { reshard } from "../../shared/platform/table/shards.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { putItem, putOf } from "../../shared/platform/table/write.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import { acceptMessage, createCampaign } from "../support/as-organization.ts";
import { inOrder, messageIdIn } from "../support/carriers.ts";
import { localSettings } from "../support/local-settings.ts";
import { acceptAll } from "../support/messages.ts";
import { dayShardOf } from "../support/organization-shards.ts";
import { separateCaches } from "./own-caches.ts";
import { replace } from "./replace.ts";

/*
 * The money path of this release, in the model's own words: plain values go in and out. The model of the next release runs
 * these functions beside its own. So an exported function may be added, but keeps its name and parameters for one release.
 */

export { launchCampaign, resumeCampaign, releaseScheduledJobs, verifyWallet };

/** AWS and the settings, as a model replaces them. */
interface Surroundings {
  /** A request to DynamoDB by a client of the code, and one to SQS. */
  readonly request: (client: object, command: object) => Promise<unknown>;
  readonly enqueue: (command: object) => Promise<unknown>;
  /** Names the instance that runs the current code, if any. Each has its own caches. Without it, all code shares them. */
  readonly instanceName?: (() => string) | undefined;
  /** The days until finished messages expire. Empty when they never do. */
  readonly messageRetentionDays?: string | undefined;
}

/** The outcome of a submission. */
type Outcome = "accepted" | "rejected" | "throttled";

/** A carrier of a model. */
export interface ModelCarrier {
  readonly name: string;
  readonly isIdempotent: boolean;
  /** @throws Error when the outcome is unknown */
  readonly submit: (messageId: string) => Promise<Outcome>;
}

const content = { to: "15005550000", message: "x", senderId: "ACME", language: "English" } as const;

/** Replaces AWS and the settings, and empties the caches of earlier runs. @returns what restores AWS */
export function connect({
  request,
  enqueue,
  instanceName,
  messageRetentionDays = "",
}: Surroundings): () => void {
  rateCardCache.clear();
  forgetDebits();
  blockedCache.clear();
  Object.assign(process.env, localSettings);
  for (const name of queueNames) process.env[environmentNames.queueUrl[name]] = `memory://${name}`;
  process.env[environmentNames.tableName] = "memory";
  process.env[environmentNames.messageRetentionDays] = messageRetentionDays;
  const restores = [
    replace(DynamoDb.prototype, "send", async function send(this: object, command: object) {
      return request(this, command).catch((error: unknown) => {
        throw withOwnClass(error);
      });
    }),
    replace(Sqs.prototype, "send", enqueue),
    ...(instanceName === undefined ? [] : [separateCaches(instanceName)]),
  ];
  return () => {
    for (const restore of restores) restore();
  };
}

/** Empties the memory of earlier debits, as in a new instance. */
export function forgetDebits(): void {
  placesOfDebits.clear();
}

const rejections = new Set(["ConditionalCheckFailedException", "TransactionCanceledException"]);

/** A rejection by the table, of the class that this release has. That of another release is another one. */
function withOwnClass(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AwsError || !rejections.has(error.name)) return error;
  return new AwsError(Object.assign({ name: error.name, message: error.message }, error));
}

/** Whether a client of the table repeats a request after a number of attempts, the last with this error. */
export function repeats(
  client: object,
  { error, attempts, changes = {} }: { error: unknown; attempts: number; changes?: Partial<RetryRules> },
): boolean {
  if (!(client instanceof AwsClient)) throw new Error("the table's client repeats requests in another way");
  return mayRepeat(retryKindOf(error), attempts, { ...client.retryRules, ...changes });
}

/** Opens a wallet with money, contacts and a draft of a campaign to them. @returns the id of the campaign */
export async function openOrganization(
  organizationId: string,
  { amount, shards, contacts }: { amount: number; shards: number; contacts: number },
): Promise<string> {
  await transact({ wallet: newWallet(organizationId, new Date()) });
  await reshard(organizationId, shards, 3);
  await topUpWallet(organizationId, { amount });
  await updateWallet(organizationId, { lowBalanceThreshold: 0.02 });
  await putItem(
    putOf(keys.organization(organizationId), {
      entity: "organization",
      id: organizationId,
      name: "ACME",
      createdAt: new Date().toISOString(), // The organization receives its events, which are checked.
      webhookCount: 1,
    }),
  );
  for (let index = 0; index < contacts; index += 1) {
    await createContact(organizationId, {
      phoneNumber: String(15_006_000_000 + index),
      tags: [],
      attributes: {},
      optedOut: false,
    });
  }
  const { id } = await createCampaign(organizationId, {
    name: "Spring",
    message: "x",
    audience: { all: true },
    senderId: "ACME",
    language: "English",
    messageType: "marketing",
  });
  return id;
}

/** Accepts a message. With a key, the request is repeatable. @returns the id of the message */
export async function sendMessage(
  organizationId: string,
  { segments, key, scheduledAt }: { segments: number; key?: string | undefined; scheduledAt?: string },
): Promise<string> {
  const request = { ...content, message: "x".repeat(segments * 153), ...(scheduledAt && { scheduledAt }) };
  if (key === undefined) return (await acceptMessage(organizationId, request)).id;
  const { answer } = await once({ organizationId, key, content: request }, async (attempt) =>
    acceptMessage(organizationId, request, { attempt }),
  );
  return MessageJob.shape.messageId.parse(Object(answer)["id"]);
}

/** Accepts a number of messages in one block, as a campaign does. @returns their ids */
export async function sendBlock(organizationId: string, count: number): Promise<string[]> {
  const queuedAt = new Date();
  const prices = await readPrices(undefined, queuedAt);
  const place = placeOf(organizationId);
  const block = Array.from({ length: count }, () => newMessage(place, content, { queuedAt, prices }));
  await acceptAll(block);
  return block.map(({ id }) => id);
}

/** The API keys of the model: one with a daily budget, one whose messages are all held, and a test key. */
const keyCredentials = {
  budget: { type: "apiKey", keyId: "key_budget", limits: { dailyBudget: 0.02, budgetKeyId: "key_budget" } },
  held: {
    type: "apiKey",
    keyId: "key_00000000000000000000000001",
    limits: { holdAbove: 0, budgetKeyId: "key_00000000000000000000000001" },
  },
  test: { type: "apiKey", keyId: "key_test", test: true },
} as const;

/** Sends a message of one segment with an API key. @returns the id of the message, or of the held message */
export async function sendWithKey(
  organizationId: string,
  kind: keyof typeof keyCredentials,
): Promise<string> {
  const credential = keyCredentials[kind];
  const actor = { organizationId, userId: "usr_1", credential, scopes: ["send"] } as const;
  return (await acceptMessage(organizationId, content, { actor })).id;
}

/** Approves or rejects a held message. */
export async function decideHeld(organizationId: string, id: string, isApproved: boolean): Promise<void> {
  const organization = await findOrganization(organizationId);
  if (organization === undefined) throw new Error("there is no organization");
  const credential = { type: "session", sessionId: "ses_1" } as const;
  const actor = { organizationId, userId: "usr_1", credential, scopes: ["send"] } as const;
  await decideHeldMessage(
    organization,
    id,
    { approve: isApproved },
    { actor, reportRateLimit: () => undefined },
  );
}

export async function cancelMessage(organizationId: string, id: string): Promise<void> {
  await messages.cancelMessage({ organizationId, isTest: false, hidesCodes: true }, id);
}

/** With a key, the request is repeatable. */
export async function topUp(organizationId: string, key: string | undefined): Promise<void> {
  const request = { amount: 0.02 };
  if (key === undefined) await topUpWallet(organizationId, request);
  else {
    await once({ organizationId, key, content: request }, async (attempt) =>
      topUpWallet(organizationId, request, attempt),
    );
  }
}

/** Sets the operator's cap of a day's spending, or removes it. */
export async function capSpending(organizationId: string, micros: number | "none"): Promise<void> {
  await wallet.limitDailySpend(organizationId, micros);
}

/** Sets the price of a segment to any number. */
export async function changePrice(priceMicros: number): Promise<void> {
  await publishRateCard([{ prefix: "1", priceMicros, costMicros: {} }], await findCurrentVersion());
}

export async function cancelCampaign(organizationId: string, campaignId: string): Promise<void> {
  await campaigns.cancelCampaign(organizationId, campaignId);
}

export async function pauseCampaign(organizationId: string, campaignId: string): Promise<void> {
  await pausing.pauseCampaign(organizationId, campaignId);
}

/** Continues a campaign in small blocks, so that one with few contacts has several. */
export async function continueCampaign(organizationId: string, campaignId: string): Promise<void> {
  await runCampaign({ organizationId, campaignId }, { blocks: 2, blockSize: 2, timeMs: minuteMs });
}

/** Processes a job of a queue. @param carriers those of the one route, in their order */
export async function processJob(
  queue: QueueName,
  job: unknown,
  carriers: readonly ModelCarrier[],
): Promise<void> {
  if (queue === "refunds") await refundMessage(MessageJob.parse(job));
  else if (queue === "campaigns") await runCampaign(CampaignJob.parse(job));
  else {
    const route = carriers.map(({ name, isIdempotent: idempotent, submit }) => ({
      name,
      carrier: {
        idempotent,
        send: async ({ reference }: OutgoingMessage) =>
          resultOf(await submit(messageIdIn(reference)), reference),
      },
    }));
    const ended = await submitMessage(MessageJob.parse(job), inOrder(route));
    if (ended !== undefined) await countOutcomes([ended]);
  }
}

function resultOf(outcome: Outcome, carrierReference: string): SubmitResult {
  if (outcome === "accepted") return { outcome, carrierReference };
  return outcome === "rejected" ? { outcome, errorCode: "MESSAGE_UNROUTABLE" } : { outcome };
}

/** @returns the number of wallets that could not be reconciled */
export async function reconcile(organizationId: string): Promise<number> {
  return (await reconcileWallets(shardOf(organizationId))).failed;
}

/** Sets the counts of a day to those of its messages, one count for each shard. @returns whether all are final */
export async function closeDay(
  organizationId: string,
  { day, shards, ids }: { day: string; shards: number; ids: ReadonlySet<string> },
): Promise<boolean> {
  const from = new Date(`${day}T00:00:00Z`);
  const to = new Date(from.getTime() + dayMs);
  const ends: Look[] = [];
  for (let index = 0; index < shards; index += 1) {
    const { messages: pk, counter } = dayShardOf(organizationId, day, index);
    let look: Look;
    // The batches are small, so that a few messages take several runs.
    do {
      look = await recount(
        { messages: pk, counter, from, to, includes: ({ id }) => ids.has(id) },
        { batches: 2, batchSize: 2 },
      );
    } while (look === "unfinished");
    ends.push(look);
  }
  return ends.every((look) => look === "closed");
}
