import { SendMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "zod/mini";

import { listWallets } from "../../shared/wallet/record.ts";
import { readWebhooks } from "../../shared/webhooks/record.ts";
import { moveSecretsJob } from "../../shared/webhooks/webhook-job.ts";
import { outputNames } from "../constructs/stack-outputs.ts";
import { command } from "./command.ts";
import { queues } from "./queues.ts";

const moveSecrets = command({
  name: "webhooks move-secrets",
  summary: "Seal the secrets of webhooks that an older release kept in clear",
  details:
    "Run it once after the upgrade from release 0.2, when the new code is in all functions: DispatchWebhook, which has the " +
    "key, is asked to move them. Webhooks are called meanwhile. Running it again changes nothing; it shows how many are left.",
  examples: ["", "--stage prod"],
  input: z.object({}),
  run: async (_, { output, stackOutput, confirm }) => {
    await confirm("move the secrets of webhooks that are in clear");
    let webhooks = 0;
    let moving = 0;
    for await (const organizationId of listWallets()) {
      for (const { id, secret } of await readWebhooks(organizationId)) {
        webhooks += 1;
        if (secret === undefined) continue;
        const { queue, group, body } = moveSecretsJob(organizationId, id);
        const QueueUrl = stackOutput(outputNames.queueUrl(queue)).value;
        const MessageBody = JSON.stringify(body);
        await queues.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: group }));
        moving += 1;
      }
      output.progress(`${webhooks} webhooks looked at`);
    }
    output.result(
      { webhooks, moving },
      `${webhooks} webhooks looked at, the secrets of ${moving} are being moved`,
    );
  },
});

export const webhookCommands = [moveSecrets];
