/* Uses the installed SDK. Reads a command from standard input, and prints the result as JSON. It runs in any runtime. */

import { createClient, RequestError, verifyWebhook } from "sms-gateway";

const { command, url, key, ...input } = JSON.parse(globalThis.process?.argv[2] ?? globalThis.Deno?.args[0]);
const client = createClient({ baseUrl: url, credential: key });

async function send() {
  const body = { to: "15005550000", message: "Hello", senderId: "ACME" };
  const sent = await client.sendSms({ body });
  await client.sendSms({ body });
  const listed = [];
  for await (const message of client.listSms({ query: { limit: 1 } })) listed.push(message.id);
  const { rows, meta } = await client.listSms({ query: { limit: 1 } });
  const read = await client.getSms({ params: { id: sent.id } });
  const error = await client.sendSms({ body: { ...body, to: "nobody" } }).catch((reason) => reason);
  return {
    id: sent.id,
    read: read.id,
    listed,
    page: [rows.length, meta.total],
    error: error instanceof RequestError && [error.status, error.code, error.details[0].path],
  };
}

// It is the one way to print in each of the runtimes.
// oxlint-disable-next-line no-console
console.log(JSON.stringify(command === "send" ? await send() : await verifyWebhook(input)));
