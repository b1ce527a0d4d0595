import * as z from "zod/mini";

import {
  pauseSending,
  readSending,
  resumeSending,
  type Sending,
} from "../../shared/messages/sending-pause.ts";
import { command, part, RequiredText, WhyAgain } from "./command.ts";

const pause = command({
  name: "sending pause",
  summary: "Hand nothing to the carrier, for the whole stage, from within a minute on",
  details:
    "Messages are accepted and paid as ever, and wait. Nothing of them is lost or given up, however long it takes.",
  examples: ["--reason 'The carrier sends everything twice' --stage prod"],
  asksFirst: true,
  input: z.object({ reason: part("--reason <text>", "why; kept for the next operator", RequiredText) }),
  run: async ({ reason }, { output, confirm, changed }) => {
    await confirm("hand no message of any customer to the carrier", { before: { ...(await readSending()) } });
    const sending = await pauseSending(reason);
    changed({ ...sending });
    output.result(sending, sendingText(sending));
  },
});

const resume = command({
  name: "sending resume",
  summary: "Hand messages to the carrier again; those that waited go out within minutes",
  examples: ["--reason 'The carrier has fixed it' --stage prod"],
  asksFirst: true,
  input: z.object({ reason: WhyAgain }),
  run: async (_, { output, confirm, changed }) => {
    await confirm("hand all that waits to the carrier, and what comes", {
      before: { ...(await readSending()) },
    });
    const sending = await resumeSending();
    changed({ ...sending });
    output.result(sending, sendingText(sending));
  },
});

const status = command({
  name: "sending show",
  summary: "Tell whether messages are handed to the carrier",
  examples: ["--stage prod"],
  input: z.object({}),
  run: async (_, { output }) => {
    const sending = await readSending();
    output.result(sending, sendingText(sending));
  },
});

function sendingText({ pausedAt, pausedReason, resumedAt }: Sending): string {
  if (pausedAt !== undefined) return `paused since ${pausedAt} (${pausedReason ?? "no reason"})`;
  return resumedAt === undefined ? "sending" : `sending, since ${resumedAt} again`;
}

export const sendingCommands = [pause, resume, status];
