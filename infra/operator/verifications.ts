import * as z from "zod/mini";

import {
  readBlockedRanges,
  readConversion,
  unblockRange,
} from "../../shared/verifications/guard/conversion.ts";
import { command, count, Organization, Organizations, part } from "./command.ts";
import { organizationIds, readOrganization } from "./organization.ts";
import { right } from "./output.ts";
import { Prefix } from "./price-overrides.ts";

const list = command({
  name: "verifications list",
  summary: "List how many verifications were approved by country, and the ranges that the guard blocks",
  details: "Undelivered messages count neither for nor against a country.",
  examples: ["--stage prod", "ada@example.com --days 7 --stage prod"],
  input: z.object({
    organizations: Organizations,
    days: part("--days <days>", "number of past days; default: 1, at most 7", z._default(count(7), 1)),
  }),
  run: async ({ organizations, days }, { output }) => {
    for await (const organizationId of await organizationIds(organizations)) {
      const { countries } = await readConversion(organizationId, days);
      const rows = countries.map((row) => ({ organizationId, ...row }));
      output.table(rows, {
        ORGANIZATION: "organizationId",
        COUNTRY: "country",
        STARTED: ({ started }) => right(`${started}`),
        APPROVED: ({ approved }) => right(`${approved}`),
        UNDELIVERED: ({ undelivered }) => right(`${undelivered}`),
      });
      const blocked = await readBlockedRanges(organizationId);
      output.table(
        blocked.map((each) => ({ organizationId, ...each })),
        { ORGANIZATION: "organizationId", "BLOCKED RANGE": "range", UNTIL: "blockedUntil", REASON: "reason" },
      );
    }
  },
});

const unblock = command({
  name: "verifications unblock",
  summary: "End the guard's block of a range for an organization",
  details: "The starts in the range so far count no longer, so the next ones begin a new count.",
  examples: ["ada@example.com 234803000 --stage prod"],
  asksFirst: true,
  input: z.object({
    organization: Organization,
    prefix: Prefix,
  }),
  run: async ({ organization, prefix: range }, { output, confirm }) => {
    const { id: organizationId } = await readOrganization(organization);
    const before = (await readBlockedRanges(organizationId)).find((each) => each.range === range);
    if (before === undefined) throw new Error(`The range ${range} is not blocked for ${organizationId}.`);
    await confirm(`verify numbers of the range ${range} again`, { organizationId, before: { ...before } });
    await unblockRange(organizationId, range);
    output.result({ organizationId, range, unblocked: true }, `${range}: no longer blocked`);
  },
});

export const verificationCommands = [list, unblock];
