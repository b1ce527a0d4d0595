import * as z from "zod/mini";

import type { AuditActor } from "../../shared/platform/table/audit-log.ts";
import { readAuditLog, type EndedEntry } from "../../shared/tenancy/audit-log/list.ts";
import { verifyAuditLog } from "../../shared/tenancy/audit-log/seals.ts";
import { command, limit, Organizations, personal, RequiredText } from "./command.ts";
import { organizationIds, readOrganization } from "./organization.ts";
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
    organization: personal(
      "[organization]",
      "organization ID, or the email of one of its users; default: the stage's log",
      z.optional(RequiredText),
    ),
    limit: limit(50, maxShown, "entries"),
  }),
  run: async ({ organization, limit: wanted }, { output, record }) => {
    const id = organization === undefined ? undefined : (await readOrganization(organization)).id;
    const entries: EndedEntry[] = [];
    let batch: EndedEntry[] = [];
    do {
      const size = Math.min(batchSize, wanted - entries.length);
      batch = await readAuditLog(id, { after: entries.at(-1)?.id, limit: size });
      entries.push(...batch);
      output.progress(`${entries.length} entries read`);
    } while (batch.length > 0 && entries.length < wanted);
    // Afterwards, so that the list does not begin with its own entry. The stage's log has no customers.
    if (id !== undefined) await record({ organizationId: id });
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

const verify = command({
  name: "audit-logs verify",
  summary: "Compare the audit logs with their seals, and name the entries that were changed",
  details:
    "Entries are sealed an hour after they are written. Without organizations it verifies all logs and that of the stage. It " +
    "names at most 50 differences of each kind. A difference exits with 1, except an outcome that was written after the seal.",
  examples: ["", "ada@example.com --stage prod"],
  input: z.object({ organizations: Organizations }),
  run: async ({ organizations }, { output }) => {
    let [logs, wrong] = [0, 0];
    const verifyLog = async (organizationId: string | undefined): Promise<void> => {
      const { entries, differences } = await verifyAuditLog(organizationId);
      const name = organizationId ?? "stage";
      const isWrong = differences.some(({ is }) => is !== "late outcome");
      logs += 1;
      if (isWrong) wrong += 1;
      const lines = differences.map(({ at, is }) => `\n    ${at}: ${is}`);
      const text = `${name}  ${entries} sealed  ${isWrong ? "WRONG" : "ok"}${lines.join("")}`;
      output.result({ log: name, entries, differences }, text);
    };
    if (organizations.length === 0) await verifyLog(undefined);
    for await (const id of await organizationIds(organizations)) await verifyLog(id);
    output.note(`${logs} logs verified, ${wrong} wrong`);
    if (wrong > 0) process.exitCode = 1;
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

export const auditLogCommands = [auditLog, verify];
