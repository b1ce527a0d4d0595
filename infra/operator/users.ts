import * as z from "zod/mini";

import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { endSessionsOf } from "../../shared/accounts/sessions/logout.ts";
import { findUserByEmail, type UserRecord } from "../../shared/tenancy/users/record.ts";
import { command, personal, RequiredText } from "./command.ts";

const input = z.object({ user: personal("<user>", "the user's email", RequiredText) });

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
  input,
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
    "log in again. If someone else knows the password, the user has to reset it.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input,
  run: async ({ user: named }, { output, confirm, changed }) => {
    const { id: userId, organizationId, email } = await readUser(named);
    await confirm(`end all sessions of ${email} (${userId}, in ${organizationId})`, {
      organizationId,
      before: { userId },
    });
    await endSessionsOf(userId);
    changed({ userId });
    output.result({ userId, organizationId }, `all sessions of ${userId} have ended`);
  },
});

export const userCommands = [endSessions, reset];
