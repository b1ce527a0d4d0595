import { useSignal } from "@preact/signals";

import type { ApiKey, CreatedApiKey, DisabledApiKey } from "../../../../shared/api/contract/api-keys.ts";
import { Scope, scopesOfTestKeys } from "../../../../shared/api/contract/scopes.ts";
import { api, baseUrl } from "../api.ts";
import { has } from "../features.ts";
import { Code, copy, Secret } from "../parts/copy.tsx";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { ChoiceField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import {
  changeLimits,
  Limits,
  limitsOf,
  limitValues,
  OtherLimitFields,
  partsOf,
  SpendingFields,
} from "../parts/key-limits.tsx";
import { ListView, useCreated } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { confirmItem, Menu, type MenuItem } from "../parts/menu.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { Section } from "../parts/page.tsx";
import { CancelScheduled, SendingPause, StillScheduled } from "../parts/scheduled.tsx";
import { Status } from "../parts/status.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { isoOf, Time } from "../parts/time.tsx";
import { FieldProblem } from "../problems.ts";
import { ActionScope } from "../rights.ts";
import { sendSamples, variablesFor } from "../snippets.ts";
import { given } from "../typed.ts";

const overlapHours = 24;

const scopeLabels: Readonly<Record<Scope, string>> = {
  send: "send: send messages and request sender IDs",
  read: "read: view all data",
  contacts: "contacts: manage contacts and opt-outs",
  campaigns: "campaigns: manage campaigns and templates",
  webhooks: "webhooks: manage webhooks",
  billing: "billing: manage the wallet and business verification",
  keys: "keys: create and disable API keys",
  personal: "personal: view business verification, audit log, exports and texts of codes",
  charge: "charge: charge saved cards, set auto-recharge and the daily spend cap",
};

/** API keys for the customer's servers. */
export function ApiKeys() {
  const keys = usePages(async (query) => api().listApiKeys({ query }), []);
  const [created, onCreated] = useCreated<CreatedApiKey>(keys);
  /** How often keys were disabled here, or scheduled messages cancelled. */
  const ends = useSignal(0);
  const onEnd = async (): Promise<void> => {
    ends.value += 1;
    await keys.reload();
  };
  return (
    <ListView
      title="API keys"
      lead="Authenticate your servers with the API. Never put a key in a mobile app or web page."
      actions={
        <DialogButton label="New key" title="New API key" onDone={onCreated}>
          {(done) => <NewKey onCreated={done} />}
        </DialogButton>
      }
      above={
        <>
          {created && <Created key={created.id} created={created} />}
          {ends.value === 0 ? null : <StillScheduled key={ends.value} />}
        </>
      }
      heading="Keys"
      caption="API keys"
      pages={keys}
      columns={{
        Key: (key) => (
          <>
            <strong dir="auto">{key.name}</strong> <code>{key.hint}</code>
            {key.limits === undefined ? null : <Limits of={key} />}
          </>
        ),
        Status: ({ status, test }) => <Status of={status} isTest={test} />,
        Scopes: ({ scopes }) => (scopes.length === Scope.options.length ? "All" : scopes.join(", ")),
        Created: ({ createdAt }) => <Time at={createdAt} />,
        "Last used": ({ lastUsedAt }) => (lastUsedAt === undefined ? "Never" : <Time at={lastUsedAt} />),
        Expires: ({ expiresAt }) => (expiresAt === undefined ? "Never" : <Time at={expiresAt} />),
        Actions: (key) => (
          <Menu
            label={`Actions for the key ${key.name ?? key.hint}`}
            items={[...changeLimits(key, keys.reload), ...actionsOf(key, { onCreated, onEnd })]}
          />
        ),
      }}
      empty={{ title: "No API keys yet", hint: "Create a key to get sample code that sends a message." }}
      below={<CompromisedKeys onEnd={onEnd} />}
    />
  );
}

function CompromisedKeys({ onEnd }: { onEnd: () => Promise<void> }) {
  return (
    <Section title="Compromised keys">
      <p>
        If a key may have leaked, disable it immediately, and cancel what was scheduled with it. To replace a
        key without downtime, rotate it: the old key keeps working for {overlapHours} hours.
      </p>
      <div class="row">
        <ConfirmButton
          label="Disable all keys"
          question="Disable all API keys?"
          consequence="Requests with any of your API keys are rejected from now on. You can create new keys at any time."
          act={async () => {
            const { count } = await api().revokeAllApiKeys();
            announce(`${countText(count, "key")} disabled.`);
            await onEnd();
          }}
        />
        <CancelScheduled onDone={onEnd} />
        <ActionScope.Provider value="billing">
          <SendingPause />
        </ActionScope.Provider>
      </div>
    </Section>
  );
}

const kinds = [
  ["live", "Live key"],
  ["test", "Test key"],
] as const;

const purposes = [
  ["messages", "Send messages and codes"],
  ["default", "All default scopes"],
  ["chosen", "Chosen scopes"],
] as const;

/** Returns the scopes of a new key; undefined for those that the gateway grants by default. */
function scopesFor(purpose: string, chosen: readonly string[]): Scope[] | undefined {
  if (purpose === "default") return undefined;
  if (purpose === "messages") return ["send", "read"];
  if (chosen.length === 0) throw new FieldProblem("scopes", "Choose what the key may do.");
  return chosen.map((each) => Scope.parse(each));
}

function NewKey({ onCreated }: { onCreated: (key: CreatedApiKey) => Promise<void> }) {
  const scopes: readonly string[] = [];
  const empty = {
    name: "",
    kind: "live",
    purpose: "messages",
    expiresAt: "",
    allowedAddresses: "",
    scopes,
    ...limitValues(),
  };
  const form = useForm(empty, async (values) => {
    const addresses = partsOf(values.allowedAddresses);
    const limits = limitsOf(values);
    const body = {
      name: given(values.name),
      ...(values.kind === "test" ? { test: true } : {}),
      expiresAt: isoOf(values.expiresAt),
      ...(addresses.length === 0 ? {} : { allowedAddresses: addresses }),
      ...(Object.keys(limits).length === 0 ? {} : { limits }),
      scopes: scopesFor(values.purpose, values.scopes),
    };
    const key = await api().createApiKey({ body });
    if (await copy(key.secret)) announce("API key created and copied.");
    await onCreated(key);
  });
  return (
    <Form form={form} action="Create and copy key">
      <TextField
        field={form.field("name")}
        label="Name (optional)"
        hint="Where the key is used, for example: shop server."
        hasFocus
      />
      <SelectField
        field={form.field("kind", "test")}
        label="Kind"
        hint="Messages of a test key are free and do not reach phones."
        options={kinds}
      />
      <SelectField
        field={form.field("purpose")}
        label="Purpose"
        hint="A key that leaks can do no more than this."
        options={purposes}
      />
      {form.field("purpose").value === "chosen" ? (
        <ChoiceField
          field={form.field("scopes")}
          label="Scopes"
          options={(form.field("kind").value === "test" ? scopesOfTestKeys : Scope.options).map(
            (each) => [each, scopeLabels[each]] as const,
          )}
        />
      ) : null}
      <SpendingFields form={form} />
      <details>
        <summary>Restrict this key further</summary>
        <div class="form">
          <TextArea
            field={form.field("allowedAddresses")}
            label="Allowed IP addresses (optional)"
            rows={2}
            hint="One address or CIDR block per line. Leave empty to allow any address."
          />
          <OtherLimitFields form={form} />
          <TextField field={form.field("expiresAt")} label="Expires at (optional)" type="datetime-local" />
        </div>
      </details>
    </Form>
  );
}

function Created({ created }: { created: CreatedApiKey }) {
  return (
    <Section title="API key created">
      <Secret label="Your new API key." secret={created.secret} />
      <h3>Send a message</h3>
      <p>
        Set these variables. TypeScript and Python also need a <DocsLink page="guides/sdks">package</DocsLink>
        .
      </p>
      <Code code={variablesFor(baseUrl, created.secret)} label="Variables" />
      <Tabs
        label="Languages"
        tabs={sendSamples.map(({ label, source }) => [
          label,
          <Code code={source} label={`Send a message with ${label}`} />,
        ])}
      />
      <p class="muted">
        Replace ACME with your sender ID
        {has("sandbox") ? "." : ", and 15005550007 with your phone number."}{" "}
        <DocsLink page="guides/quickstart">Quickstart</DocsLink>
      </p>
    </Section>
  );
}

/** Names the webhooks of a key that has ended, because they are still called. */
function announceEnd(what: string, { webhooks }: Pick<DisabledApiKey, "webhooks">): void {
  announce(what + webhooks.map(({ url }) => ` This webhook is still called: ${url}`).join(""));
}

function actionsOf(
  { id, status }: ApiKey,
  {
    onCreated,
    onEnd,
  }: {
    onCreated: (key: CreatedApiKey) => Promise<void>;
    onEnd: () => Promise<void>;
  },
): MenuItem[] {
  const params = { id };
  const remove = confirmItem({
    label: "Delete",
    question: "Delete this key?",
    consequence:
      "The key stops working and is removed from this list, and keys that an active key made are disabled. The audit log keeps a record of it.",
    act: async () => {
      announceEnd("API key deleted.", await api().deleteApiKey({ params }));
      await onEnd();
    },
  });
  if (status !== "active") return [remove];
  const rotate = confirmItem({
    label: "Rotate",
    question: "Rotate this key?",
    consequence: `You get a new key with the same scopes. The old key keeps working for ${overlapHours} hours while you update your servers.`,
    act: async () => onCreated(await api().rotateApiKey({ params, body: { overlapHours } })),
  });
  const disable = confirmItem({
    label: "Disable",
    question: "Disable this key?",
    consequence:
      "Requests with this key, and with keys that it made, are rejected from now on. You cannot enable them again.",
    act: async () => {
      announceEnd("API key disabled.", await api().disableApiKey({ params }));
      await onEnd();
    },
  });
  return [rotate, disable, remove];
}
