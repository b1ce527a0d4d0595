import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { projectRoot } from "@sms-gateway/build/project-root.ts";
import * as z from "zod/mini";

import recorded from "../../../shared/api/contract/examples.json" with { type: "json" };
import { routes } from "../../../shared/api/routes.ts";
import type { Route } from "../../../shared/api/routes/route.ts";
import { startLocalGateway } from "../gateway.ts";
import { synthesizeLocalStack } from "../synthesize.ts";
import { startReceiver, waitFor } from "../webhook-receiver.ts";
import { Recorder, type SendOperation } from "./recorder.ts";
import { steady } from "./steady.ts";

/** Parts of real responses and webhook calls, from which the document composes its examples. */
interface Examples {
  /** The data of responses, by operation. */
  readonly operations: Readonly<Record<string, unknown>>;
  /** The operations whose data is the same as that of another, which it names. */
  readonly sameAs: Readonly<Record<string, string>>;
  /** The bodies of webhook calls, by event. */
  readonly webhooks: Readonly<Record<string, unknown>>;
}

/** The operations from registration to a session with a verified email. */
const verification: readonly Route[] = [
  routes.register,
  routes.requestEmailVerification,
  routes.verifyEmail,
  routes.login,
];

/**
 * Calls every operation on a separate gateway, with the example request of its schema, and records its response. Values
 * that differ between runs are replaced, so that a second recording is the same.
 * @param send sends the requests, by default with `fetch`
 * @throws Error when an operation never succeeds
 */
export async function recordExamples(send?: SendOperation): Promise<Examples> {
  const dataFolder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  const errors: string[] = [];
  const gateway = await startLocalGateway({
    ...(await synthesizeLocalStack()),
    port: 0,
    dataFolder,
    log: (line) => {
      if (line.includes('"level":"error"')) errors.push(line);
    },
  });
  const receiver = await startReceiver();
  try {
    const approve = async (): Promise<void> => approvePending(dataFolder);
    const recorder = new Recorder(gateway, receiver.url, approve, send);
    // The verification of the email deletes what was created before.
    for (const first of verification) {
      if (first === routes.verifyEmail) {
        await waitFor("both links", async () => gateway.emails.length >= 2);
      }
      await recorder.play((route) => route === first);
    }
    // The payment provider calls it with events that it signs.
    recorder.examples["receivePaymentEvent"] = { received: true };
    const others = [routes.receivePaymentEvent, routes.createSession];
    const isDone = (route: Route): boolean => [...verification, ...others].includes(route);
    await recorder.play(
      (route) =>
        !isDone(route) &&
        !isEnding(route) &&
        !interruptsCampaign(route) &&
        !endsSessions(route) &&
        !changesMembers(route) &&
        !isAboutHeld(route) &&
        !isAboutBatch(route) &&
        !isAboutConversation(route) &&
        !isAboutOwnCode(route),
    );
    // A code can be sent again only after half a minute.
    recorder.examples["resendVerification"] = {
      ...Object(recorder.examples["startVerification"]),
      sends: 2,
    };
    await recorder.renew("startVerification", { to: "15005550000", code: "912345" });
    await recorder.play((route) => route === routes.reportVerification);
    // While it is required, it cannot be removed.
    await recorder.callOperation("updateOrganization", { secondFactorRequired: false });
    await recorder.converse();
    await recorder.play(isAboutConversation);
    await recorder.holdMessage();
    await recorder.play(isAboutHeld);
    // Before this the id of a user is the owner's, who cannot leave.
    await recorder.renew("inviteMember", { email: "katherine@example.com" });
    await recorder.play(changesMembers);
    const sent = await receiver.next();
    await recorder.callOperation("sendSms", { to: "15005550002" });
    let failed = await receiver.next();
    while (failed.event !== "message.failed") failed = await receiver.next();
    await waitFor("the refund", async () => (await recorder.read("listTransactions")).includes('"refund"'));
    // The list of live conversations stays empty.
    await recorder.play((route) => route.method === "GET" && route !== routes.listConversations);
    const ofWallet = await recorder.playWalletEvents(async () => receiver.next());
    // The cap keeps a campaign from its end.
    await recorder.renew("createCampaign");
    await recorder.callOperation("updateWallet", { dailySpendCap: 0.01 });
    await recorder.callOperation("launchCampaign");
    await recorder.play((route) => route === routes.pauseCampaign);
    await recorder.callOperation("updateWallet", { dailySpendCap: null });
    await recorder.play((route) => route === routes.resumeCampaign);
    await recorder.play(isAboutBatch);
    await recorder.renew("createCampaign");
    await recorder.play((route) => route === routes.deleteCampaign);
    // A sent message, a payment that was made and a finished campaign cannot be cancelled.
    await recorder.renew("startVerification", { to: "15005550000" });
    await recorder.renew("sendSms", { scheduledAt: new Date(Date.now() + dayMs).toISOString() });
    await recorder.renew("createCampaign");
    await recorder.renew("createPayment");
    await recorder.play(
      (route) => isEnding(route) && !endsSessions(route) && route !== routes.deleteCampaign,
    );
    // Only the console may call it.
    recorder.examples["createSession"] = recorder.examples["getMe"];
    for (const route of Object.values<Route>(routes).filter(endsSessions)) {
      await recorder.callOperation("login");
      await recorder.play((each) => each === route);
    }
    const webhooks = [sent, failed, ...ofWallet].map(({ event, body }): [string, unknown] => [
      event,
      JSON.parse(body),
    ]);
    return {
      ...withoutRepeats(steady(recorder.examples, receiver.url)),
      // Not all events can be recorded: some need a carrier or a completed campaign. Their examples are handwritten.
      webhooks: { ...recorded.webhooks, ...steady(Object.fromEntries(webhooks), receiver.url) },
    };
  } catch (error) {
    // Only the gateway's log has the cause of a 500.
    throw new Error([String(error), ...errors].join("\n"), { cause: error });
  } finally {
    receiver.close();
    await gateway.stop();
    await rm(dataFolder, { recursive: true });
  }
}

/** Keeps one of the operations with the same data, and the names of the others. */
function withoutRepeats(all: Readonly<Record<string, unknown>>): Pick<Examples, "operations" | "sameAs"> {
  const operations: Record<string, unknown> = {};
  const sameAs: Record<string, string> = {};
  const firstOf = new Map<string, string>();
  for (const [name, data] of Object.entries(all)) {
    const text = JSON.stringify(data);
    const first = firstOf.get(text);
    if (first === undefined) operations[name] = data;
    else sameAs[name] = first;
    firstOf.set(text, first ?? name);
  }
  return { operations, sameAs };
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Returns whether an operation needs a held message, or its key. */
function isAboutHeld(route: Route): boolean {
  return route.path.startsWith("/v1/held-messages") || route === routes.updateApiKey;
}

/** Returns whether an operation needs a code of the customer's own, or waits for a time. */
function isAboutOwnCode(route: Route): boolean {
  return route === routes.reportVerification || route === routes.resendVerification;
}

/** Returns whether an operation needs a balance for a good example: without one, a batch has errors in its result. */
function isAboutBatch({ path: template }: Route): boolean {
  return template.startsWith("/v1/sms/batch");
}

/** Returns whether an operation needs a conversation. */
function isAboutConversation({ path: template }: Route): boolean {
  return template.startsWith("/v1/conversations/");
}

/** Returns whether an operation needs a campaign that has not ended. */
function interruptsCampaign({ path: address }: Route): boolean {
  return /\/(pause|resume)$/.test(address);
}

/** Returns whether an operation deletes what others need, so that it is called last. */
function isEnding(route: Route): boolean {
  return route.method === "DELETE" || /\/(cancel|revoke-all)$/.test(route.path);
}

/** Returns whether an operation ends the session of all other calls, or changes its password. */
function endsSessions({ method, path: template }: Route): boolean {
  return (
    (method === "POST" && /\/(logout|logout-everywhere|password|password-reset)$/.test(template)) ||
    template === routes.deleteSession.path
  );
}

/** Returns whether an operation changes a member's role in the organization. */
function changesMembers({ method, path: template }: Route): boolean {
  return method === "PATCH" && template.startsWith("/v1/members");
}

const Pending = z.object({ organizationId: z.string(), id: z.string() });

/** Lets the operator approve all pending requests. */
async function approvePending(dataFolder: string): Promise<void> {
  const operator = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, DATA_DIR: dataFolder };
    const file = path.join(projectRoot, "infra/operator/main.ts");
    return (await promisify(execFile)(process.execPath, [file, ...args], { env })).stdout;
  };
  for (const kind of ["kyc", "sender-ids"]) {
    const pending = (await operator(kind, "list", "--json")).split("\n").filter((line) => line !== "");
    for (const line of pending) {
      const { organizationId, id } = Pending.parse(JSON.parse(line));
      await operator(kind, "approve", organizationId, id);
    }
  }
}
