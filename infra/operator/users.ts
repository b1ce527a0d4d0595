import * as z from "zod/mini";

import { resetSecondFactor } from "../../shared/accounts/reset-second-factor.ts";
import { findUserByEmail } from "../../shared/accounts/user-record.ts";
import { command, part, RequiredText } from "./command.ts";

const resetOfSecondFactor = command({
  name: "users reset-second-factor",
  summary: "Take the second factor away from a user who has lost their app and all recovery codes",
  details:
    "You have made sure that it is them who asks, in another way than by email: whoever reads their email may have their " +
    "password too. From then on the password alone lets them in, until they set up another one, and " +
    "an email tells them within twenty minutes.",
  examples: ["ada@example.com", "ada@example.com --stage prod"],
  asksFirst: true,
  input: z.object({ user: part("<user>", "their email", RequiredText, { isPersonal: true }) }),
  run: async (input, { output, confirm, changed }) => {
    const user = await findUserByEmail(input.user.toLowerCase());
    if (user === undefined) throw new Error(`There is no user ${input.user}.`);
    const { id: userId, organizationId, email, secondFactorAt } = user;
    const what = `take the second factor away from ${email} (${userId}, of ${organizationId})`;
    await confirm(what, { organizationId, before: { userId, secondFactorAt } });
    const hadOne = await resetSecondFactor(user);
    changed({ userId });
    output.result(
      { userId, organizationId, hadOne },
      hadOne ? `${userId} logs in with the password alone` : `${userId} has no second factor`,
    );
  },
});

export const userCommands = [resetOfSecondFactor];
