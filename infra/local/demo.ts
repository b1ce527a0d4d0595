import { createHmac, timingSafeEqual } from "node:crypto";
import { styleText } from "node:util";

import * as z from "zod";

import { startLocalGateway } from "./gateway.ts";
import { synthesizeLocalStack } from "./synthesize.ts";
import { startReceiver, waitFor, type WebhookCall } from "./webhook-receiver.ts";

// `npm run demo`: plays the README's tour on a gateway that keeps nothing, and prints what happens.

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const step = (title: string): void => print(`\n${styleText("bold", title)}`);

const functionLog: string[] = [];
const gateway = await startLocalGateway({
  ...(await synthesizeLocalStack()),
  port: 0,
  log: (line) => functionLog.push(line),
});
try {
  await playTour();
  print("\nThat was the whole way. `npm start` keeps the gateway running for you.");
} catch (error) {
  print(`\nThe tour failed: ${error instanceof Error ? error.message : String(error)}`);
  print(functionLog.join("\n"));
  process.exitCode = 1;
} finally {
  await gateway.stop();
}

/** Calls the gateway, prints the call and its answer, and returns the `data` of the answer. */
async function call<Data>(
  method: string,
  path: string,
  schema: z.ZodType<Data>,
  options: { credential?: string; json?: unknown } = {},
): Promise<Data> {
  const { credential, json } = options;
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(credential === undefined ? {} : { Authorization: `Bearer ${credential}` }),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const body: unknown = await response.json();
  print(`  ${method} ${path}${json === undefined ? "" : ` ${JSON.stringify(json)}`}`);
  print(`  ${response.status} ${JSON.stringify(body)}`);
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return z.object({ data: schema }).parse(body).data;
}

async function playTour(): Promise<void> {
  step("1. Register: a user, an organisation and an empty wallet");
  const { token } = await call("POST", "/v1/auth/register", z.object({ token: z.string() }), {
    json: { email: "ada@example.com", password: "correct horse", organizationName: "Ada's shop" },
  });

  step("2. Top up the wallet");
  await call("POST", "/v1/wallet/top-up", z.unknown(), { credential: token, json: { amount: 5 } });

  step("3. Create an API key: its secret is shown this once");
  const key = await call("POST", "/v1/auth/api-keys", z.object({ secret: z.string() }), {
    credential: token,
    json: { name: "server" },
  });
  const credential = key.secret;

  step("4. Register a webhook: its signing secret is shown this once");
  const receiver = await startReceiver();
  const webhook = await call("POST", "/v1/webhooks", z.object({ secret: z.string() }), {
    credential,
    json: { url: receiver.url },
  });

  step("5. Send a message with the API key: accepted and paid for");
  const Queued = z.object({ id: z.string(), status: z.string() });
  const message = {
    to: "15005550000",
    message: "Your code is 123456",
    senderId: "ADASHOP",
    messageType: "otp",
  };
  const { id } = await call("POST", "/v1/sms/send", Queued, { credential, json: message });

  step("6. The webhook arrives, and its signature is right");
  showCall(await receiver.next(), webhook.secret);

  step("7. The message is sent");
  await call("GET", `/v1/sms/${id}`, Queued, { credential });

  step("8. A message that the sandbox carrier refuses fails, and its price comes back");
  await call("POST", "/v1/sms/send", Queued, { credential, json: { ...message, to: "15005550002" } });
  showCall(await receiver.next(), webhook.secret);
  const Rows = z.array(z.object({ type: z.string() }));
  await waitFor("the refund", async () => {
    const response = await fetch(`${gateway.url}/v1/wallet/transactions`, {
      headers: { Authorization: `Bearer ${credential}` },
    });
    const { data } = z.object({ data: Rows }).parse(await response.json());
    return data[0]?.type === "refund";
  });
  await call("GET", "/v1/wallet/transactions", Rows, { credential });
  receiver.close();
}

function showCall({ body, event, signature }: WebhookCall, secret: string): void {
  print(`  X-Service-Event: ${event}`);
  print(`  X-Service-Signature: ${signature}`);
  print(`  ${body}`);
  const expected = createHmac("sha256", secret).update(body).digest();
  const given = Buffer.from(signature, "hex");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Error("the signature does not match");
  }
  print("  The signature matches.");
}
