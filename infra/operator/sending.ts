import * as z from "zod/mini";

import {
  pauseSending,
  readSending,
  resumeSending,
  type Sending,
} from "../../shared/messages/sending-pause.ts";
import { command, OptionalReason, Reason } from "./command.ts";
import { change } from "./context.ts";

const facts = (sending: Sending): Record<string, unknown> => ({ ...sending });

const pause = command({
  name: "sending pause",
  summary: "Pause sending to all carriers for the whole stage, within a minute",
  details:
    "The gateway still accepts and charges messages. They wait, however long the pause takes, and none is lost.",
  examples: ["--reason 'The carrier sends everything twice' --stage prod"],
  asksFirst: true,
  input: z.object({ reason: Reason }),
  run: async ({ reason }, context) => {
    const what = "pause sending for all customers";
    const before = await readSending();
    await change(
      { what, before, apply: async () => pauseSending(reason), facts, text: sendingText },
      context,
    );
  },
});

const resume = command({
  name: "sending resume",
  summary: "Resume sending; messages that waited are sent within minutes",
  examples: ["--reason 'The carrier has fixed it' --stage prod"],
  asksFirst: true,
  input: z.object({ reason: OptionalReason }),
  run: async (_, context) => {
    const what = "resume sending for all customers, beginning with the messages that wait";
    const before = await readSending();
    await change({ what, before, apply: resumeSending, facts, text: sendingText }, context);
  },
});

const show = command({
  name: "sending show",
  summary: "Show whether sending is paused",
  examples: ["--stage prod"],
  input: z.object({}),
  run: async (_, { output }) => {
    const sending = await readSending();
    output.result(sending, sendingText(sending));
  },
});

function sendingText({ pausedAt, pausedReason, resumedAt }: Sending): string {
  if (pausedAt !== undefined) return `paused since ${pausedAt} (${pausedReason ?? "no reason"})`;
  return resumedAt === undefined ? "active" : `active, resumed at ${resumedAt}`;
}

export const sendingCommands = [pause, resume, show];
