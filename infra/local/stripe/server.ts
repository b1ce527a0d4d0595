import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";

import * as z from "zod/mini";

import { ifMissing, parsedData, replaceData } from "../data-folder.ts";
import { isLocalRequest, listenOnLoopback } from "../loopback.ts";
import { StripeAccount } from "./account.ts";
import { StripeApi, type KeptResponse } from "./api.ts";
import type { StripeWorld } from "./object-store.ts";
import type { StripeObject } from "./objects.ts";
import { respondToPage, type PageResponse } from "./page-routes.ts";
import { Webhooks, type WebhookOptions } from "./webhooks.ts";

/** How often the account looks for what is due. */
const advanceMs = 500;

/** The content of the file. It is trusted, because only this program writes it. */
const State = z.object({
  port: z.number(),
  objects: z.array(z.custom<StripeObject>()),
  kept: z.array(z.tuple([z.string(), z.custom<KeptResponse>()])),
});

export interface StripeOptions extends WebhookOptions {
  /** Where the account stays between runs; without it, it ends with the process. */
  readonly dataFolder?: string | undefined;
}

/** Stripe on this machine. */
export interface LocalStripe {
  readonly url: string;
  readonly account: StripeAccount;
  stop(): Promise<void>;
}

/** Starts Stripe's API with its checkout page and its webhooks, over an account in test mode. */
export async function startStripe(options: StripeOptions): Promise<LocalStripe> {
  const { dataFolder, now, log } = options;
  const file = dataFolder === undefined ? undefined : path.join(dataFolder, "stripe.json");
  const stored = file && (await readFile(file, "utf8").catch(ifMissing(undefined)));
  const state = file && stored !== undefined ? State.parse(parsedData(stored, file)) : undefined;
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void serve(request, response));
  // The addresses of open checkouts stay valid if their port is still free.
  const port = await listenOnLoopback(server, state?.port).catch(async () => listenOnLoopback(server));
  const url = `http://127.0.0.1:${port}`;
  const webhooks = new Webhooks(options);
  const kept = new Map(state?.kept);
  let isChanged = false;
  const world: StripeWorld = {
    now,
    newId: (prefix) => `${prefix}_${randomBytes(12).toString("hex")}`,
    emit: (event) => {
      isChanged = true;
      void webhooks.send(event);
    },
    laterSeconds: 2,
  };
  const account = new StripeAccount(world, `${url}/checkout`, state?.objects);
  const api = new StripeApi(account, kept);

  /** Replaces the file, so that a crash leaves the old one or the new one. */
  const save = (): void => {
    isChanged = false;
    if (file === undefined) return;
    const content = JSON.stringify({ port, objects: account.objects.everything(), kept: [...kept] });
    replaceData(file, content);
  };

  // A restart finds the same account, which payments name.
  save();

  const respond = async (request: IncomingMessage): Promise<PageResponse> => {
    const { method = "GET", url: target = "/", headers } = request;
    if (!isLocalRequest(headers)) return { status: 403, headers: {}, body: "" };
    const body = await text(request);
    if (!target.startsWith("/v1/")) return respondToPage(account, method, target, body);
    const { authorization } = headers;
    const idempotencyKey = headers["idempotency-key"]?.toString();
    const result = api.handle({ method, path: target, body, authorization, idempotencyKey });
    const responseHeaders = { "content-type": "application/json", "request-id": world.newId("req") };
    return { status: result.status, headers: responseHeaders, body: JSON.stringify(result.body) };
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const { status, headers, body } = await respond(request);
      if (isChanged || request.method === "POST") save();
      response.writeHead(status, headers).end(body);
    } catch (error) {
      log(`The payment provider failed at ${request.method} ${request.url}: ${String(error)}`);
      response.writeHead(500).end();
    }
  };

  const timer = setInterval(() => {
    account.advance();
    if (isChanged) save();
  }, advanceMs).unref();

  const stop = async (): Promise<void> => {
    clearInterval(timer);
    webhooks.stop();
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { url, account, stop };
}
