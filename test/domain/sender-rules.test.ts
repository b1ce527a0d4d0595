import { beforeEach, describe, expect, it, vi } from "vitest";

import { guidePages } from "../../infra/build/docs/other-pages.ts";
import { stageNamed } from "../../infra/stack/stages/stage.ts";
import type { Estimate, EstimateSmsRequest } from "../../shared/api/contract/estimates.ts";
import { allSenderRules } from "../../shared/api/contract/sender-rules.ts";
import type { SendSmsRequest } from "../../shared/api/contract/sms.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { runCampaign } from "../../shared/audience/campaigns/run.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { sendTemplate } from "../../shared/audience/templates/send.ts";
import { createTemplate } from "../../shared/audience/templates/templates.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";
import { estimateMessage } from "../../shared/messages/accept/estimate.ts";
import { countryOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";
import { assignNumber } from "../../shared/messages/numbers/record.ts";
import { refundMessage } from "../../shared/messages/outcome/refund.ts";
import { submitMessage } from "../../shared/messages/send/submit-message.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { acceptMessage, holdMessage } from "../support/as-organization.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { accept, only, ScriptedCarrier } from "../support/carriers.ts";
import { advance } from "../support/clock.ts";
import { acceptFor, hello, priceMicros, statusOf } from "../support/messages.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

const balanceMicros = 1_000_000;
/** Numbers of a country that accepts no letters, of one that requires a registration, and of one without a known rule. */
const [american, british, brazilian] = ["12125550100", "447400123456", "5511987654321"];
const rejected = {
  code: "SENDER_NOT_ALLOWED_IN_COUNTRY",
  details: [{ path: "senderId", message: expect.stringContaining("accept no letters") }],
};
let organizationId: string;

beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  organizationId = await openOrganization(balanceMicros);
});

function setPolicy(policy: "allowed" | "any"): void {
  vi.stubEnv(environmentNames.policies.senderCountries, policy);
}

async function balance(): Promise<number> {
  return (await readWallet(organizationId)).balanceMicros;
}

const send = async (fields: Partial<SendSmsRequest>): Promise<string> =>
  (await acceptMessage(organizationId, { ...hello, to: american, ...fields })).status;

async function estimate(fields: Partial<EstimateSmsRequest>, isTest = false): Promise<Estimate> {
  const organization = { ...(await organizationOf(organizationId)), defaultSenderId: "DEFAULT" };
  const request = { to: american, message: "hello", language: "English", ...fields } as const;
  return estimateMessage(organization, request, { isTest });
}

it("the guide has each rule, and prod rejects letters where none are accepted", async () => {
  const guide = (await guidePages()).find(({ path }) => path === "guides/going-live")?.markdown ?? "";
  for (const { rule, source, date } of allSenderRules()) {
    expect(guide).toContain(`| ${rule} | [${date}](${source}) |`);
  }
  const policies = ["prod", "dev"].map((name) => stageNamed(name).policies.senderCountries);
  expect(policies).toEqual(["allowed", "any"]);
});

it("each rule is of a country, in words, with its source and a date; the countries of prod have one", () => {
  const rules = allSenderRules();
  const { countries } = stageNamed("prod").policies;
  expect(rules.map(({ country }) => country)).toEqual(expect.arrayContaining([countries].flat()));
  for (const { country, rule, source } of rules) {
    expect(new Intl.DisplayNames("en", { type: "region" }).of(country), country).not.toBe(country);
    expect(rule, country).toMatch(/^[A-Z].{20,}\.$/);
    expect(source, country).toMatch(/^https:\/\/[a-z0-9.-]+\.[a-z]+\/./);
  }
  expect([american, british, brazilian].map(countryOfNumber)).toEqual(["US", "GB", "BR"]);
  expect(rules.some(({ country }) => country === "BR")).toBe(false);
});

describe("letters to a country that accepts none", () => {
  it("are rejected before the debit in each way to send, where the stage rejects them", async () => {
    const organization = await organizationOf(organizationId);
    const { id: templateId } = await createTemplate(organizationId, { name: "Code", body: "Hi" });
    const heldId = await holdMessage(organizationId, american);
    const credential = { type: "session", sessionId: "ses_1" } as const;
    const deciding = {
      actor: { organizationId, userId: "usr_1", scopes: [], credential },
      reportRateLimit: () => undefined,
    };
    const { senderId, language } = hello;
    const scheduledAt = new Date(Date.now() + 20 * minuteMs).toISOString();
    const ways = [
      async () => send({}),
      async () => send({ scheduledAt }),
      async () => sendTemplate(organization, templateId, { to: american, senderId, language, values: {} }),
      async () => decideHeldMessage(organization, heldId, { approve: true }, deciding),
      async () => holdMessage(organizationId, american),
    ];
    setPolicy("allowed");
    for (const way of ways) await expect(way()).rejects.toMatchObject(rejected);
    expect(await balance()).toBe(balanceMicros);
    setPolicy("any");
    for (const way of ways) await way();
    expect(await balance()).toBeLessThan(balanceMicros);
  });

  it("are skipped by a campaign, which charges the others", async () => {
    const campaignId = await createCampaignTo(organizationId, 2);
    await createContact(organizationId, { phoneNumber: british, tags: [], attributes: {}, optedOut: false });
    setPolicy("allowed");
    await launchCampaign(organizationId, campaignId);
    await runCampaign({ organizationId, campaignId });
    const { progress } = await getCampaign(organizationId, campaignId);
    expect(progress).toMatchObject({ accepted: 1, skipped: { senderNotAllowed: 2 } });
  });

  it("are not submitted from a message that was scheduled before, which is refunded", async () => {
    const scheduledAt = new Date(Date.now() + 10 * minuteMs).toISOString();
    const [american10, british10] = [
      await acceptFor(organizationId, { to: american, scheduledAt }),
      await acceptFor(organizationId, { to: british, scheduledAt }),
    ];
    const charged = await balance();
    setPolicy("allowed");
    advance(11 * minuteMs);
    const carrier = new ScriptedCarrier(accept);
    for (const job of [american10, british10]) await submitMessage(job, only(carrier));
    expect(await statusOf(american10)).toBe("failed: MESSAGE_SENDER_ID_NOT_APPROVED");
    expect(carrier.received.map(({ to }) => to)).toEqual([british]);
    await refundMessage(american10);
    expect(await balance()).toBe(charged + priceMicros);
  });
});

it("numbers, test messages, the sandbox's numbers and other countries are not affected", async () => {
  setPolicy("allowed");
  const number = "442079460998";
  await assignNumber({ number, organizationId });
  expect(await send({ senderId: undefined, from: number })).toBe("queued");
  expect(await send({ senderId: "12345" })).toBe("queued");
  expect(await send({ test: true })).toBe("queued");
  for (const to of [hello.to, british, brazilian]) expect(await send({ to }), to).toBe("queued");
});

it("an estimate has the rule for letters on every stage, also for a test message, and for the default sender ID", async () => {
  for (const policy of ["any", "allowed"] as const) {
    setPolicy(policy);
    const never = { country: "US", alpha: "never", rule: expect.stringContaining("accept no letters") };
    expect((await estimate({ senderId: "ACME" })).senderRule).toMatchObject(never);
    expect((await estimate({ senderId: "ACME" }, true)).senderRule).toMatchObject(never);
    expect((await estimate({})).senderRule).toMatchObject(never);
    expect((await estimate({ to: british })).senderRule).toMatchObject({
      country: "GB",
      alpha: "registered",
    });
    const without = [{ from: "442079460998" }, { senderId: "12345" }, { to: brazilian }, { to: hello.to }];
    for (const fields of without) expect((await estimate(fields)).senderRule).toBeUndefined();
  }
});
