import { portSetting } from "../loopback.ts";
import { startReceiver } from "../webhook-receiver.ts";

// `npm run receiver`: shows the webhook calls to the address that the README's tour registers.

const port = portSetting("RECEIVER_PORT", 4000);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const receiver = await startReceiver({
  port,
  onCall: ({ event, signature, body }) => {
    print(`\nX-Service-Event: ${event}\nX-Service-Signature: ${signature}\n${body}`);
  },
});
print(`Waiting for webhook calls to ${receiver.url}`);
