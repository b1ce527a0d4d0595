import * as z from "zod/mini";

import { createClient } from "../../shared/api/client/client.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { graceMs } from "../../shared/money/wallet/settlement.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { findItem, queryItems } from "../../shared/platform/table/read.ts";
import { messageKey } from "../../shared/platform/table/shards.ts";
import { functionNamed, runSchedule } from "../support/functions.ts";
import { areSendersIdle } from "../support/idle-senders.ts";
import { print, startBenchmarkGateway } from "./gateway.ts";

// `npm run bench -- campaign`: a campaign to 10,000 contacts whose worker is killed three times on the way. It prints how
// long the campaign takes, and fails if money is not exact or a contact was not reached exactly once.

const balance = 1_000;
const price = 0.0079;

const pause = async (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/**
 * Runs the campaign.
 * @returns whether all checks passed
 */
export async function benchmarkCampaign(contactCount: number): Promise<boolean> {
  const gateway = await startBenchmarkGateway();
  const account = { email: "ada@example.com", password: "correct horse" };
  const { token, organization } = await createClient({ baseUrl: gateway.url }).register({ body: account });
  const { secret } = await createClient({ baseUrl: gateway.url, credential: token }).createApiKey();
  const client = createClient({ baseUrl: gateway.url, credential: secret });
  await client.topUpWallet({ body: { amount: balance } });
  for (let start = 0; start < contactCount; start += 1_000) {
    const contacts = Array.from({ length: Math.min(1_000, contactCount - start) }, (_, index) => ({
      phoneNumber: String(15_006_000_000 + start + index),
    }));
    await client.importContacts({ body: { contacts } });
  }
  print(`${contactCount} contacts are there`);

  const fields = { name: "Spring", message: "hello", audience: { all: true }, senderId: "ACME" } as const;
  const { id } = await client.createCampaign({ body: fields });
  const startedAt = performance.now();
  await client.launchCampaign({ params: { id } });
  let kills = 0;
  let lastSaid = 0;
  for (;;) {
    const { status, progress } = await client.getCampaign({ params: { id } });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (seconds >= lastSaid + 10) {
      lastSaid = seconds;
      print(`${seconds} s: ${progress.accepted} accepted, ${progress.sent} sent`);
    }
    if (kills < 3 && progress.accepted > ((kills + 1) * contactCount) / 4) {
      kills += 1;
      await functionNamed(gateway, "RunCampaign").kill();
      while (!(await areSendersIdle(gateway))) await pause(100);
      // The scheduled work of the minutes that have passed.
      gateway.advanceClock(17 * minuteMs);
      await runSchedule(gateway, "ReleaseScheduledJobs");
      print(`the worker was ended at ${progress.accepted} accepted`);
    }
    if (status === "completed" || status === "failed") {
      print(`${status} after ${seconds} s: ${JSON.stringify(progress)}`);
      break;
    }
    await pause(200);
  }

  // The debit of a killed worker is returned when the grace is over.
  gateway.advanceClock(graceMs + minuteMs);
  for (let pass = 0; pass < 3; pass += 1) await runSchedule(gateway, "ReconcileWallets");
  const { balanceMicros, findings } = await verifyWallet(organization.id);
  const Row = z.object({ id: z.string(), to: z.string() });
  const { pk } = messageKey({ organizationId: organization.id, id: "" });
  const messages = await queryItems(Row, { pk, limit: contactCount + 1 });
  const Sandbox = z.object({ calls: z.number() });
  const calls = [];
  for (const message of messages) {
    calls.push((await findItem(Sandbox, keys.sandboxMessage(message.id)))?.calls ?? 0);
  }
  const checks = {
    "every contact has one message": new Set(messages.map(({ to }) => to)).size === contactCount,
    "there is no other message": messages.length === contactCount,
    "the carrier was called once for each": calls.every((count) => count === 1),
    "the money is exact": balanceMicros === Math.round((balance - contactCount * price) * 1e6),
    "the ledger adds up": findings.length === 0,
  };
  for (const [check, holds] of Object.entries(checks)) print(`${holds ? "holds" : "FAILS"}: ${check}`);
  await gateway.stop();
  return Object.values(checks).every(Boolean);
}
