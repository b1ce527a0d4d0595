import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { ApiKey, CreatedApiKey } from "../../../../shared/contract/accounts.ts";
import { Scope } from "../../../../shared/contract/scopes.ts";
import { api, baseUrl } from "../api.ts";
import { has } from "../features.ts";
import { Code, Secret } from "../parts/copy.tsx";
import { ConfirmButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Empty } from "../parts/empty.tsx";
import { ChoiceField, Form, TextArea, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { isoOf, Time } from "../parts/time.tsx";
import { snippetsFor } from "../snippets.ts";
import { given } from "../typed.ts";

const overlapHours = 24;

const scopeWords: Readonly<Record<Scope, string>> = {
  send: "send: messages and sender IDs",
  read: "read: all that changes nothing",
  contacts: "contacts: add and change them",
  campaigns: "campaigns: and templates",
  webhooks: "webhooks: add and change them",
  billing: "billing: money and KYC",
  keys: "keys: make and revoke keys",
};

/** The keys that servers call the API with. */
export function ApiKeys(): JSX.Element {
  const keys = usePages(async (query) => api().listApiKeys({ query }), []);
  const created = useSignal<CreatedApiKey | undefined>(undefined);
  const onCreated = async (key: CreatedApiKey): Promise<void> => {
    created.value = key;
    await keys.reload();
  };
  return (
    <Page title="API keys" lead="For your servers. Never put one into an app or a web page.">
      {created.value === undefined ? null : <Created key={created.value.id} created={created.value} />}
      <div class="columns">
        <Section title="New key">
          <NewKey onCreated={onCreated} />
        </Section>
        <Section title="In an emergency">
          <p>
            A key that others may have seen: rotate it, and the old one works on for {overlapHours} hours; or
            disable it.
          </p>
          <div class="row">
            <ConfirmButton
              label="Disable all keys"
              question="Disable all API keys?"
              consequence="Every server that calls with a key of yours is refused from the next request on. You make new ones here."
              act={async () => {
                const { count } = await api().revokeAllApiKeys();
                announce(`${countText(count, "key")} disabled.`);
                await keys.reload();
              }}
            />
          </div>
        </Section>
      </div>
      <Section title="Keys">
        <PagedTable
          caption="API keys"
          pages={keys}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Key",
              show: ({ name, hint }) => (
                <>
                  <strong dir="auto">{name}</strong> <code>{hint}</code>
                </>
              ),
            },
            { title: "State", show: ({ status }) => <Status of={status} /> },
            {
              title: "May",
              show: ({ scopes }) =>
                scopes.length === Scope.options.length ? "everything" : scopes.join(", "),
            },
            { title: "Created", show: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: "Last used",
              show: ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : <Time at={lastUsedAt} />),
            },
            {
              title: "Ends",
              show: ({ expiresAt }) => (expiresAt === undefined ? "never" : <Time at={expiresAt} />),
            },
            {
              title: "Actions",
              show: (key) => <Actions apiKey={key} onCreated={onCreated} onChange={keys.reload} />,
            },
          ]}
          empty={
            <Empty title="No keys yet">
              <p>Make one above: you get code that sends a message with it.</p>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}

function NewKey({ onCreated }: { onCreated: (key: CreatedApiKey) => Promise<void> }): JSX.Element {
  const scopes = useSignal<readonly string[]>([]);
  const form = useForm({ name: "", expiresAt: "", allowedAddresses: "" }, async (values) => {
    const addresses = values.allowedAddresses.split(/[\s,]+/).filter(Boolean);
    const body = {
      name: given(values.name),
      expiresAt: isoOf(values.expiresAt),
      ...(addresses.length === 0 ? {} : { allowedAddresses: addresses }),
      ...(scopes.value.length === 0 ? {} : { scopes: scopes.value.map((each) => Scope.parse(each)) }),
    };
    const key = await api().createApiKey({ body });
    form.reset();
    scopes.value = [];
    await onCreated(key);
  });
  return (
    <Form form={form} action="Make a key">
      <TextField
        form={form}
        name="name"
        label="Name (optional)"
        hint="What it is for, such as: shop server."
      />
      <details>
        <summary>What it may do, where from, until when</summary>
        <div class="form">
          <ChoiceField
            legend="Scopes"
            hint="None chosen is as much as the gateway gives to keys."
            options={Scope.options.map((each) => [each, scopeWords[each]] as const)}
            chosen={scopes}
          />
          <TextArea
            form={form}
            name="allowedAddresses"
            label="Addresses (optional)"
            rows={2}
            hint="Addresses or CIDR blocks that it may be used from, each on a line. Empty is anywhere."
          />
          <TextField form={form} name="expiresAt" label="Ends (optional)" type="datetime-local" />
        </div>
      </details>
    </Form>
  );
}

function Created({ created }: { created: CreatedApiKey }): JSX.Element {
  const snippets = snippetsFor(baseUrl, created.secret);
  return (
    <Section title="Your new key">
      <Secret label="This is the secret of the key." secret={created.secret} />
      <h3>Send a message with it</h3>
      <Tabs
        label="Languages"
        tabs={snippets.map(({ language, file, code }) => [
          language,
          <Code code={code} label={`${file}: send a message with ${language}`} />,
        ])}
      />
      <p class="muted">
        Replace ACME by a sender ID of yours
        {has("sandbox") ? "." : ", and 15005550000 by the number of a phone."}{" "}
        <DocsLink>All else is in the API reference</DocsLink>
      </p>
    </Section>
  );
}

function Actions({
  apiKey,
  onCreated,
  onChange,
}: {
  apiKey: ApiKey;
  onCreated: (key: CreatedApiKey) => Promise<void>;
  onChange: () => Promise<void>;
}): JSX.Element {
  const { id, status } = apiKey;
  const params = { id };
  return (
    <div class="row">
      {status !== "active" ? null : (
        <>
          <ConfirmButton
            label="Rotate"
            question="Replace this key by a new one?"
            consequence={`The new one may do the same. The old one works on for ${overlapHours} hours, so that your servers can change over.`}
            act={async () => onCreated(await api().rotateApiKey({ params, body: { overlapHours } }))}
          />
          <ConfirmButton
            label="Disable"
            question="Disable this key?"
            consequence="Whoever calls with it is refused from the next request on."
            act={async () => {
              await api().disableApiKey({ params });
              announce("The key is disabled.");
              await onChange();
            }}
          />
        </>
      )}
      <ConfirmButton
        label="Delete"
        question="Delete this key?"
        consequence="It works no more, and is gone from this list. The audit log keeps that it was there."
        act={async () => {
          await api().deleteApiKey({ params });
          announce("The key is deleted.");
          await onChange();
        }}
      />
    </div>
  );
}
