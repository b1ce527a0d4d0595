import * as z from "zod/mini";

import { resetSecondFactor } from "../../shared/accounts/second-factor/reset.ts";
import { findUserByEmail } from "../../shared/tenancy/users/record.ts";
import { command, personal, RequiredText } from "./command.ts";

const reset = command({
  name: "users reset-second-factor",
  summary: "Remove the second factor of a user who lost their app and recovery codes",
  details:
    "First verify the person's identity by other means than email: anyone who reads their email may know their password too. " +
    "The user then logs in with the password alone. An email informs them within twenty minutes.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ user: personal("<user>", "the user's email", RequiredText) }),
  run: async (input, { output, confirm, changed }) => {
    const user = await findUserByEmail(input.user.toLowerCase());
    if (user === undefined) throw new Error(`There is no user ${input.user}.`);
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

export const userCommands = [reset];
