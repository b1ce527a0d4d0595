import { createHmac, timingSafeEqual } from "node:crypto";
import { styleText } from "node:util";

import { createClient, type Client } from "../../../shared/api/client/client.ts";
import { startLocalGateway } from "../gateway.ts";
import { synthesizeLocalStack } from "../synthesize.ts";
import { startReceiver, waitFor, type WebhookCall } from "../webhook-receiver.ts";

// `npm run demo`: plays the README's tour on a gateway without stored data, and prints each step.

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
  print("\nThe tour is complete. `npm start` runs the gateway until you stop it.");
} catch (error) {
  print(`\nThe tour failed: ${error instanceof Error ? error.message : String(error)}`);
  print(functionLog.join("\n"));
  process.exitCode = 1;
} finally {
  await gateway.stop();
}

/** A client that prints each request and its response. */
function connect(credential?: string): Client {
  return createClient({
    baseUrl: gateway.url,
    ...(credential === undefined ? {} : { credential }),
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const { method, body } = init;
      print(`  ${method} ${url.replace(gateway.url, "")}${typeof body === "string" ? ` ${body}` : ""}`);
      print(`  ${response.status} ${await response.clone().text()}`);
      return response;
    },
  });
}

async function playTour(): Promise<void> {
  step("1. Register: creates a user, an organization and an empty wallet");
  const { token } = await connect().register({
    body: { email: "ada@example.com", password: "correct horse", organizationName: "Ada's shop" },
  });

  step("2. Top up the wallet");
  await connect(token).topUpWallet({ body: { amount: 5 } });

  step("3. Create an API key: its secret is shown only once");
  const key = await connect(token).createApiKey({ body: { name: "server" } });
  const client = connect(key.secret);

  step("4. Register a webhook: its signing secret is shown only once");
  const receiver = await startReceiver();
  const webhook = await client.createWebhook({ body: { url: receiver.url } });

  step("5. Send a message with the API key: it is accepted and charged");
  const message = {
    to: "15005550000",
    message: "Your code is 123456",
    senderId: "ADASHOP",
    messageType: "otp",
  } as const;
  const { id } = await client.sendSms({ body: message });

  step("6. The webhook is called with a valid signature");
  showCall(await receiver.next(), webhook.secret);

  step("7. The message is sent");
  await client.getSms({ params: { id } });

  step("8. The sandbox carrier rejects a message: it fails and is refunded");
  await client.sendSms({ body: { ...message, to: "15005550002" } });
  showCall(await receiver.next(), webhook.secret);
  const silent = createClient({ baseUrl: gateway.url, credential: key.secret });
  await waitFor("the refund", async () => (await silent.listTransactions()).rows[0]?.type === "refund");
  await client.listTransactions();
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
