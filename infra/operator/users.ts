import * as z from "zod/mini";

import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { endSessionsOf } from "../../shared/accounts/sessions/logout.ts";
import { allMembers, toApiMember } from "../../shared/tenancy/organizations/member-record.ts";
import { findUserByEmail, type UserRecord } from "../../shared/tenancy/users/record.ts";
import { command, Organization, personal, Reason, RequiredText } from "./command.ts";
import { readOrganization } from "./organization.ts";

const User = personal("<user>", "the user's email", RequiredText);

async function readUser(email: string): Promise<UserRecord> {
  const user = await findUserByEmail(email.toLowerCase());
  if (user === undefined) throw new Error(`There is no user ${email}.`);
  return user;
}

const reset = command({
  name: "users reset-second-factor",
  summary: "Remove the second factor of a user who lost their app and recovery codes",
  details:
    "First verify the person's identity by other means than email: anyone who reads their email may know their password too. " +
    "The user then logs in with the password alone. An email informs them within twenty minutes.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ user: User }),
  run: async ({ user: named }, { output, confirm, changed }) => {
    const user = await readUser(named);
    const { id: userId, organizationId, email, secondFactorAt } = user;
    const what = `remove the second factor of ${email} (${userId}, in ${organizationId})`;
    await confirm(what, { organizationId, before: { userId, secondFactorAt } });
    const hadOne = await resetSecondFactor(user);
    changed({ userId });
    output.result(
      { userId, organizationId, hadOne },
      hadOne ? `${userId} logs in with the password alone` : `${userId} has no second factor`,
    );
  },
});

const endSessions = command({
  name: "users end-sessions",
  summary: "Log a user out everywhere",
  details:
    "All sessions of the user end with their next request, also those of tokens. Keys of the API keep working, and the user can " +
    "log in again. If someone else knows the password, the user has to reset it. An email informs them within twenty minutes.",
  examples: ["ada@example.com --reason 'Ticket 12: stolen laptop' --stage prod"],
  asksFirst: true,
  input: z.object({ user: User, reason: Reason }),
  run: async ({ user: named }, { output, confirm, changed }) => {
    const user = await readUser(named);
    const { id: userId, organizationId, email } = user;
    await confirm(`end all sessions of ${email} (${userId}, in ${organizationId})`, {
      organizationId,
      before: { userId },
    });
    await endSessionsOf(user);
    changed({ userId });
    output.result({ userId, organizationId }, `all sessions of ${userId} have ended`);
  },
});

const list = command({
  name: "users list",
  summary: "List the users of an organization with their roles",
  examples: ["ada@example.com --stage prod"],
  discloses: true,
  input: z.object({ organization: Organization }),
  run: async ({ organization }, { output }) => {
    const { id } = await readOrganization(organization);
    const users = (await allMembers(id)).map((member) => toApiMember(member));
    output.table(users, {
      EMAIL: "email",
      ROLE: "role",
      STATUS: "status",
      "SECOND FACTOR": ({ secondFactor }) => (secondFactor === true ? "yes" : "no"),
      SINCE: "createdAt",
    });
  },
});

export const userCommands = [list, endSessions, reset];
