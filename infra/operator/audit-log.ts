import * as z from "zod/mini";

import type { AuditActor } from "../../shared/platform/table/audit-log.ts";
import { readAuditLog, type EndedEntry } from "../../shared/tenancy/audit-log/list.ts";
import { command, limit, part, RequiredText } from "./command.ts";
import { readOrganization } from "./organization.ts";
import { jsonOf } from "./output.ts";

const batchSize = 500;
const maxShown = 100_000;

const auditLog = command({
  name: "audit-log",
  summary: "List the audit log of an organization or the stage, newest first",
  details:
    "The stage's log has the commands that concern no single organization. With --json all fields are printed, as an export.",
  examples: ["ada@example.com", "ada@example.com --limit 100000 --json --stage prod", "--stage prod"],
  input: z.object({
    organization: part(
      "[organization]",
      "organization ID, or the email of one of its users; default: the stage's log",
      z.optional(RequiredText),
    ),
    limit: limit(50, maxShown, "entries"),
  }),
  run: async ({ organization, limit: wanted }, { output }) => {
    const id = organization === undefined ? undefined : (await readOrganization(organization)).id;
    const entries: EndedEntry[] = [];
    let batch: EndedEntry[] = [];
    do {
      const size = Math.min(batchSize, wanted - entries.length);
      batch = await readAuditLog(id, { after: entries.at(-1)?.id, limit: size });
      entries.push(...batch);
      output.progress(`${entries.length} entries read`);
    } while (batch.length > 0 && entries.length < wanted);
    output.table(entries, {
      TIME: "createdAt",
      ACTOR: ({ actor }) => actorText(actor),
      ADDRESS: "sourceAddress",
      ACTION: "action",
      OUTCOME: ({ outcome, errorCode }) => errorCode ?? outcome,
      SUBJECT: ({ subject = {} }) => jsonOf(subject),
    });
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
