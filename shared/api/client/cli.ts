#!/usr/bin/env node
import { parseArgs } from "node:util";

import type { Client } from "./client.ts";
import { listen, stopListening } from "./listen.ts";
import { createClient } from "./package.ts";
import { headerText, webAddress } from "./request-values.ts";

/* The customer's commands, `npx sms-gateway`. */

const usage = `Usage: sms-gateway send --to NUMBER --message TEXT [--sender-id NAME]
       sms-gateway listen --forward URL [--events NAME,NAME] [--show-secret]
       sms-gateway listen --stop

send sends a message, and prints its id. listen passes webhook calls to a server on this machine, until you
press Ctrl+C. Start it again to get the events from the time between, or end that with --stop.
--show-secret prints the secret that verifies the calls.

The environment has the address of the gateway, SMS_GATEWAY_URL, and an API key, SMS_GATEWAY_KEY. Its scopes
are send for send, and read and webhooks for listen.
`;

const text = { type: "string" } as const;
const options = {
  to: text,
  message: text,
  "sender-id": text,
  forward: text,
  events: text,
  "show-secret": { type: "boolean", default: false },
  stop: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

try {
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  if (values.help === true) {
    process.stdout.write(usage);
  } else {
    const { SMS_GATEWAY_URL: address, SMS_GATEWAY_KEY: key } = process.env;
    if (address === undefined || key === undefined) throw new Error(usage);
    const baseUrl = webAddress("SMS_GATEWAY_URL", address);
    const credential = headerText("SMS_GATEWAY_KEY", key);
    // The build gives it a method for each public operation.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const client = createClient({ baseUrl, credential }) as unknown as Client;
    await runCommand(client, baseUrl, positionals[0], values);
  }
} catch (error) {
  const { message = String(error), requestId, docUrl } = Object(error);
  const lines = [message, requestId && `Request ID: ${requestId}`, docUrl].filter(
    (line) => line !== undefined,
  );
  process.stderr.write(`${lines.join("\n")}\n`);
  process.exitCode = 1;
}

async function runCommand(
  client: Client,
  baseUrl: string,
  command: string | undefined,
  values: ReturnType<typeof parseArgs<{ options: typeof options }>>["values"],
): Promise<void> {
  const { to, message, forward, events, stop, "sender-id": senderId, "show-secret": showsSecret } = values;
  if (command === "send" && to !== undefined && message !== undefined) {
    const body = { to, message, ...(senderId === undefined ? {} : { senderId }) };
    process.stdout.write(`${(await client.sendSms({ body })).id}\n`);
  } else if (command === "listen" && stop === true) {
    await stopListening(client, baseUrl);
  } else if (command === "listen" && forward !== undefined) {
    await listen(client, baseUrl, forward, { events: events?.split(","), showsSecret });
  } else {
    throw new Error(usage);
  }
}
