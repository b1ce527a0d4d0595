import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { inject } from "vitest";

import { Customer } from "../support/api.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";

/** An account with money, an API key, and a webhook. */
export interface Account {
  readonly customer: Customer;
  readonly receiver: WebhookReceiver;
  /** The signing secret of the webhook. */
  readonly secret: string;
  /** The variables that the samples read. */
  readonly env: Readonly<Record<string, string>>;
}

export async function openAccount(): Promise<Account> {
  const customer = await Customer.register({ balance: 10 });
  const receiver = await startWebhookReceiver();
  const { secret } = await customer.client.createWebhook({ body: { url: receiver.url } });
  const key = await customer.createApiKey();
  return {
    customer,
    receiver,
    secret,
    env: { SMS_GATEWAY_URL: inject("baseUrl"), SMS_GATEWAY_KEY: key.secret },
  };
}

/** The first call of the webhook, as the programs get it. */
export async function firstCall({ receiver, secret }: Account) {
  await receiver.waitForCalls(1);
  const [call] = receiver.calls;
  if (call === undefined) throw new Error("no webhook call has come");
  return { payload: call.body, headers: call.headers, secret };
}

/**
 * Runs a program with input as JSON on its standard input.
 * @returns the JSON that it prints
 * @throws Error with what it writes to standard error, if it fails
 */
export async function runProgram(
  [command = "", ...options]: readonly string[],
  input: unknown,
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<unknown> {
  const program = spawn(command, options, {
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  // A program that reads no input may end before it is written.
  program.stdin.on("error", () => undefined);
  program.stdin.end(JSON.stringify(input));
  const ended = once(program, "close");
  const [output, errors] = await Promise.all([text(program.stdout), text(program.stderr)]);
  const [status]: unknown[] = await ended;
  if (status !== 0) throw new Error(`${command} ended with ${String(status)}:\n${output}\n${errors}`);
  return JSON.parse(output);
}
