import { beforeEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { SaveVerificationProfileRequest } from "../../shared/api/contract/verification-profiles.ts";
import { launchCampaign } from "../../shared/audience/campaigns/launch.ts";
import { getCampaign } from "../../shared/audience/campaigns/read.ts";
import { updateCampaign } from "../../shared/audience/campaigns/update.ts";
import { createContact, getContact, updateContact } from "../../shared/audience/contacts/contacts.ts";
import { createTemplate, getTemplate, updateTemplate } from "../../shared/audience/templates/templates.ts";
import { keys, type Key } from "../../shared/platform/table/keys.ts";
import { updateItem, updateOf } from "../../shared/platform/table/write.ts";
import { saveProfile } from "../../shared/verifications/change-profiles.ts";
import { findProfile } from "../../shared/verifications/profiles.ts";
import { createCampaignTo } from "../support/campaigns.ts";
import { useOwnTable } from "../support/own-table.ts";
import { openOrganization, organizationOf } from "../support/wallets.ts";

/* A change that names the version that a person saw is made to no other one. */

interface Edited {
  readonly version: number;
}

let organizationId: string;
beforeEach(async () => {
  vi.setSystemTime("2031-03-01T12:00:00Z");
  await useOwnTable();
  organizationId = await openOrganization(1_000_000);
});

const profile = SaveVerificationProfileRequest.parse({ brand: "Acme" });

interface Editor {
  readonly read: () => Promise<Edited>;
  readonly change: (version?: number) => Promise<Edited>;
}

async function editCampaign(): Promise<Editor> {
  const id = await createCampaignTo(organizationId, 1);
  const organization = await organizationOf(organizationId);
  return {
    read: async () => getCampaign(organizationId, id),
    change: async (version) => updateCampaign(organization, id, { name: "Summer", version }),
  };
}

async function editTemplate(): Promise<Editor & { readonly key: Key<"template"> }> {
  const { id } = await createTemplate(organizationId, { name: "greeting", body: "hi" });
  return {
    key: keys.template(organizationId, id),
    read: async () => getTemplate(organizationId, id),
    change: async (version) => updateTemplate(organizationId, id, { name: "hello", version }),
  };
}

async function editContact(): Promise<Editor> {
  const empty = { tags: [], attributes: {}, optedOut: false };
  const { id } = await createContact(organizationId, { phoneNumber: "15006000000", ...empty });
  return {
    read: async () => getContact(organizationId, id),
    change: async (version) => updateContact(organizationId, id, { firstName: "Ada", version }),
  };
}

async function editProfile(): Promise<Editor> {
  return {
    read: async () => findProfile(organizationId),
    change: async (version) => saveProfile(organizationId, "default", { ...profile, version }),
  };
}

it.each([
  ["campaign", editCampaign],
  ["template", editTemplate],
  ["contact", editContact],
  ["profile", editProfile],
])("a %s that was changed meanwhile is not changed unseen", async (_, edit) => {
  const { read, change } = await edit();
  const { version } = await read();
  const changed = await change(version);
  expect(changed).toMatchObject({ version: version + 1 });
  await expect(change(version)).rejects.toMatchObject({
    code: "CONFLICT",
    details: [{ path: "version", message: `is ${version + 1} now` }],
  });
  expect(await read()).toEqual(changed);
  // Only one of two parallel changes of a version is made.
  const both = await Promise.allSettled([change(version + 1), change(version + 1)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await change()).toMatchObject({ version: version + 3 });
});

it("an item of release 0.4.0 has the version 0 until its first change", async () => {
  const { key, read, change } = await editTemplate();
  await updateItem(z.unknown(), updateOf(key, { remove: ["version"] }));
  expect(await read()).toMatchObject({ version: 0 });
  expect(await change(0)).toMatchObject({ version: 1 });
  await expect(change(0)).rejects.toMatchObject({ code: "CONFLICT" });
});

it("a change of a draft that names only the version that a person saw changes nothing", async () => {
  const id = await createCampaignTo(organizationId, 1);
  const { version } = await getCampaign(organizationId, id);
  const organization = await organizationOf(organizationId);
  expect(await updateCampaign(organization, id, { version })).toMatchObject({ version });
  await expect(updateCampaign(organization, id, { version: version + 1 })).rejects.toMatchObject({
    code: "CONFLICT",
  });
});

it("a draft that another person changed, also during the launch, is not launched unseen", async () => {
  const id = await createCampaignTo(organizationId, 1);
  const { version } = await getCampaign(organizationId, id);
  const organization = await organizationOf(organizationId);
  await updateCampaign(organization, id, { message: "another text" });
  await expect(launchCampaign(organizationId, id, version)).rejects.toMatchObject({ code: "CONFLICT" });
  const changing = updateCampaign(organization, id, { message: "a third text", version: version + 1 });
  const launching = launchCampaign(organizationId, id, version + 1);
  const [changed, launched] = await Promise.allSettled([changing, launching]);
  expect([changed.status, launched.status].toSorted()).toEqual(["fulfilled", "rejected"]);
  const { status, message } = await getCampaign(organizationId, id);
  expect([status, message]).toEqual(
    launched.status === "fulfilled" ? ["sending", "another text"] : ["draft", "a third text"],
  );
});
