import * as z from "zod/mini";

import { readAuditLog, type EndedEntry } from "../../shared/audit-log/list.ts";
import type { AuditActor } from "../../shared/platform/audit-log.ts";
import { command, count, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organizations.ts";
import { jsonOf, type Column } from "./output.ts";

/** Entries that are read at once, and shown of one log at the most. */
const batchSize = 500;
const maxShown = 100_000;

const columns: readonly Column<EndedEntry>[] = [
  { heading: "AT", text: ({ createdAt }) => createdAt },
  { heading: "WHO", text: ({ actor }) => actorText(actor) },
  { heading: "FROM", text: ({ sourceAddress = "" }) => sourceAddress },
  { heading: "WHAT", text: ({ action }) => action },
  { heading: "OUTCOME", text: ({ outcome, errorCode }) => errorCode ?? outcome },
  { heading: "ABOUT", text: ({ subject = {} }) => jsonOf(subject) },
];

const auditLog = command({
  name: "audit-log",
  summary: "Show who did what in an organisation, or to the whole stage, newest first",
  details:
    "With --json it is an export: a line an entry, with all that the log has. Without an organisation it is the log of " +
    "the stage, with the commands that are about no organisation.",
  examples: ["ada@example.com", "ada@example.com --limit 100000 --json --stage prod", "--stage prod"],
  input: z.object({
    organization: part(
      "[organisation]",
      "its id, or the email of its user; without it the log of the stage",
      z.optional(RequiredText),
    ),
    limit: part(
      "--limit <number>",
      `so many of the newest entries, 50 unless told, ${maxShown} at the most`,
      z._default(count(maxShown), 50),
    ),
  }),
  run: async ({ organization, limit }, { output }) => {
    const id = organization === undefined ? undefined : (await readOrganization(organization)).id;
    const entries: EndedEntry[] = [];
    let batch: EndedEntry[] = [];
    do {
      const wanted = Math.min(batchSize, limit - entries.length);
      batch = await readAuditLog(id, { after: entries.at(-1)?.id, limit: wanted });
      entries.push(...batch);
      output.progress(`${entries.length} entries read`);
    } while (batch.length > 0 && entries.length < limit);
    output.table(entries, columns);
    output.note(`${entries.length} entries`);
  },
});

function actorText(actor: AuditActor): string {
  switch (actor.type) {
    case "user":
      return actor.userId;
    case "apiKey":
      return actor.keyId;
    case "operator":
      return actor.identity;
  }
}

export const auditLogCommands = [auditLog];
