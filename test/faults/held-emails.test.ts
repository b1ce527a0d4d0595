import { expect, it, vi } from "vitest";

import { AcceptedMessage } from "../../shared/api/contract/sms.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { accountCallsTo } from "../support/account-calls.ts";
import { call, dataOf } from "../support/api.ts";
import { bringAgain, emailsTo } from "../support/emails.ts";
import { dropAnswer, isBy } from "../support/faults.ts";
import { runSchedule } from "../support/functions.ts";
import { gatewayOfFile } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const { gateway, faults } = await gatewayOfFile();
const accounts = accountCallsTo(gateway);

it("approvers get one email an hour while messages wait, however many keys hold messages", async () => {
  // The hours of the clock count, so the test begins with one.
  gateway.advanceClock(hourMs - (Date.now() % hourMs));
  const owner = await accounts.register();
  const [sender, viewer] = [
    await accounts.join("sender", owner.token),
    await accounts.join("viewer", owner.token),
  ];
  const subjectsTo = (email: string): string[] =>
    emailsTo(gateway, email)
      .map(({ subject }) => subject)
      .filter((subject) => subject.includes("approval"));
  const hold = async (token = owner.token): Promise<string> => {
    const body = { name: "http://phish.example", limits: { holdAbove: 0 } };
    const { secret: credential } = await accounts.createKey(token, body);
    const json = { to: "15005550000", message: "http://phish.example", senderId: "ACME" };
    return dataOf(await call("/v1/sms/send", { credential, json, baseUrl: gateway.url }), AcceptedMessage).id;
  };
  const haveCome = async (count: number): Promise<void> =>
    vi.waitFor(() => {
      expect([owner, sender, viewer].map(({ email }) => subjectsTo(email).length)).toEqual([count, count, 0]);
    }, patience);
  const held = [await hold(), await hold(), await hold()];
  await haveCome(1);
  const [email] = emailsTo(gateway, sender.email);
  expect(email?.subject).toMatch(/^Messages of .* wait for approval$/);
  expect(email?.text).toContain(`${gateway.url}/console#/held-messages`);
  expect(email?.text).not.toContain("phish");

  // The reminders of the three messages are one email too.
  gateway.advanceClock(hourMs + minuteMs);
  await runSchedule(gateway, "ReleaseScheduledJobs");
  await haveCome(2);

  const token = await accounts.sessionOf(sender.email);
  for (const id of held) {
    // A rejection whose response was lost is repeated, and recognizes itself.
    faults.next(
      (request) => isBy("DecideHeldMessage")(request) && request.body.includes('"rejected"'),
      dropAnswer,
    );
    const rejected = await accounts.as(token, "POST", `/v1/held-messages/${id}/decision`, { approve: false });
    expect(rejected.status).toBe(200);
  }
  // An email without a reason is not sent, and may have one later.
  const job = { kind: "messagesHeld", id: "eml_of_another_hour", organizationId: owner.organizationId };
  expect(await bringAgain(gateway, job)).toEqual({ batchItemFailures: [] });
  expect(subjectsTo(owner.email)).toHaveLength(2);
  await hold(await accounts.sessionOf(owner.email));
  expect(await bringAgain(gateway, job)).toEqual({ batchItemFailures: [] });
  await haveCome(3);
});
