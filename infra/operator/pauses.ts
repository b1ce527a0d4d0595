import * as z from "zod/mini";

import { environmentNames } from "../../shared/platform/config.ts";
import { pause, readPause, resume, type Pause } from "../../shared/platform/jobs/pause.ts";
import type { Pausable } from "../../shared/platform/table/keys.ts";
import { command, OptionalReason, part, Reason, RequiredText } from "./command.ts";
import { change } from "./context.ts";

const texts = {
  sending: {
    what: "sending to all carriers",
    details:
      "Applies within a minute. The gateway still accepts and charges messages. They wait, however long the pause takes, and " +
      "none is lost.",
    resumed: "messages that waited are sent within minutes",
    show: "sending show",
  },
  payments: {
    what: "all payments",
    details:
      "The gateway then opens no checkout, charges no card, credits no payment, pays nothing back and issues no invoice. All of " +
      "it waits. A customer can still pay at a checkout that is open; `payments adopt` works.",
    resumed: "what waited is done within minutes",
    show: "payments show-pause",
  },
} as const;

const Table = part(
  "--table <table>",
  "a table that the stage will use, such as a restored one",
  z.optional(RequiredText),
);

const facts = (state: Pause): Record<string, unknown> => ({ ...state });

function commandsOf(pausable: Pausable) {
  const { what, details, resumed, show } = texts[pausable];
  return [
    command({
      name: `${pausable} pause`,
      summary: `Pause ${what} for the whole stage`,
      details,
      examples: ["--reason 'The provider does everything twice' --stage prod"],
      asksFirst: true,
      input: z.object({ reason: Reason, table: Table }),
      run: async ({ reason, table }, context) => {
        if (table !== undefined) process.env[environmentNames.tableName] = table;
        const before = await readPause(pausable);
        const apply = async () => pause(pausable, reason);
        await change({ what: `pause ${what} for all customers`, before, apply, facts, text }, context);
      },
    }),
    command({
      name: `${pausable} resume`,
      summary: `Resume ${what}; ${resumed}`,
      examples: ["--reason 'The provider has fixed it' --stage prod"],
      asksFirst: true,
      input: z.object({ reason: OptionalReason }),
      run: async (_, context) => {
        const before = await readPause(pausable);
        const apply = async () => resume(pausable);
        await change({ what: `resume ${what} for all customers`, before, apply, facts, text }, context);
      },
    }),
    command({
      name: show,
      summary: `Show whether the stage pauses ${what}`,
      examples: ["--stage prod"],
      input: z.object({}),
      run: async (_, { output }) => {
        const state = await readPause(pausable);
        output.result(state, text(state));
      },
    }),
  ];
}

function text({ pausedAt, pausedReason, resumedAt }: Pause): string {
  if (pausedAt !== undefined) return `paused since ${pausedAt} (${pausedReason ?? "no reason"})`;
  return resumedAt === undefined ? "active" : `active, resumed at ${resumedAt}`;
}

export const sendingCommands = commandsOf("sending");
export const pausesOfPayments = commandsOf("payments");
