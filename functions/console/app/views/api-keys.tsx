import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { ApiKey, CreatedApiKey } from "../../../../shared/contract/accounts.ts";
import { Scope } from "../../../../shared/contract/scopes.ts";
import { api, baseUrl } from "../api.ts";
import { has } from "../features.ts";
import { Code, Secret } from "../parts/copy.tsx";
import { ConfirmButton, ConfirmDialog, DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Empty } from "../parts/empty.tsx";
import { ChoiceField, Form, TextArea, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { Menu, type MenuItem } from "../parts/menu.tsx";
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
  send: "send: send messages, request sender IDs",
  read: "read: see everything, change nothing",
  contacts: "contacts: add and change contacts",
  campaigns: "campaigns: campaigns and templates",
  webhooks: "webhooks: add and change webhooks",
  billing: "billing: wallet and KYC",
  keys: "keys: create and disable API keys",
};

/** The keys that servers call the API with. */
export function ApiKeys(): JSX.Element {
  const keys = usePages(async (query) => api().listApiKeys({ query }), []);
  const created = useSignal<CreatedApiKey | undefined>(undefined);
  const onCreated = async (key: CreatedApiKey): Promise<void> => {
    created.value = key;
    await keys.reload();
  };
  const add = (
    <DialogButton label="New key" title="New API key" look="primary">
      {(close) => (
        <NewKey
          onCreated={async (key) => {
            close();
            await onCreated(key);
          }}
        />
      )}
    </DialogButton>
  );
  return (
    <Page
      title="API keys"
      lead="Your servers use them to call the API. Never put one into an app or a web page."
      actions={add}
    >
      {created.value === undefined ? null : <Created key={created.value.id} created={created.value} />}
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
              title: "Scopes",
              show: ({ scopes }) => (scopes.length === Scope.options.length ? "all" : scopes.join(", ")),
            },
            { title: "Created", show: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: "Last used",
              show: ({ lastUsedAt }) => (lastUsedAt === undefined ? "never" : <Time at={lastUsedAt} />),
            },
            {
              title: "Expires",
              show: ({ expiresAt }) => (expiresAt === undefined ? "never" : <Time at={expiresAt} />),
            },
            {
              title: "Actions",
              show: (key) => (
                <Menu
                  label={`Actions for the key ${key.name ?? key.hint}`}
                  items={actionsOf(key, { onCreated, onChange: keys.reload })}
                />
              ),
            },
          ]}
          empty={
            <Empty title="No keys yet">
              <p>Create one, and you get code that sends a message with it.</p>
            </Empty>
          }
        />
      </Section>
      <Section title="If a key has leaked">
        <p>
          Rotate it to get a new one while the old one keeps working for {overlapHours} hours, or disable it
          at once.
        </p>
        <div class="row">
          <ConfirmButton
            label="Disable all keys"
            question="Disable all API keys?"
            consequence="Every server that uses one of your keys is refused from its next request on. You can create new keys here."
            act={async () => {
              const { count } = await api().revokeAllApiKeys();
              announce(`${countText(count, "key")} disabled.`);
              await keys.reload();
            }}
          />
        </div>
      </Section>
    </Page>
  );
}

function NewKey({ onCreated }: { onCreated: (key: CreatedApiKey) => Promise<void> }): JSX.Element {
  const scopes: readonly string[] = [];
  const form = useForm({ name: "", expiresAt: "", allowedAddresses: "", scopes }, async (values) => {
    const addresses = values.allowedAddresses.split(/[\s,]+/).filter(Boolean);
    const body = {
      name: given(values.name),
      expiresAt: isoOf(values.expiresAt),
      ...(addresses.length === 0 ? {} : { allowedAddresses: addresses }),
      ...(values.scopes.length === 0 ? {} : { scopes: values.scopes.map((each) => Scope.parse(each)) }),
    };
    await onCreated(await api().createApiKey({ body }));
  });
  return (
    <Form form={form} action="Create key">
      <TextField
        form={form}
        name="name"
        label="Name (optional)"
        hint="What it is for, such as: shop server."
        hasFocus
      />
      <details>
        <summary>Limit what it may do</summary>
        <div class="form">
          <ChoiceField
            form={form}
            name="scopes"
            legend="Scopes"
            hint="If you choose none, the key gets all scopes that keys may have here."
            options={Scope.options.map((each) => [each, scopeWords[each]] as const)}
          />
          <TextArea
            form={form}
            name="allowedAddresses"
            label="IP addresses (optional)"
            rows={2}
            hint="Addresses or CIDR blocks that may use it, one per line. Empty means any."
          />
          <TextField form={form} name="expiresAt" label="Expires (optional)" type="datetime-local" />
        </div>
      </details>
    </Form>
  );
}

function Created({ created }: { created: CreatedApiKey }): JSX.Element {
  const snippets = snippetsFor(baseUrl, created.secret);
  return (
    <Section title="Your new key">
      <Secret label="This is the key." secret={created.secret} />
      <h3>Send a message with it</h3>
      <Tabs
        label="Languages"
        tabs={snippets.map(({ language, file, code }) => [
          language,
          <Code code={code} label={`${file}: send a message with ${language}`} />,
        ])}
      />
      <p class="muted">
        Replace ACME with a sender ID of yours
        {has("sandbox") ? "." : ", and 15005550000 with your phone number."}{" "}
        <DocsLink>API reference</DocsLink>
      </p>
    </Section>
  );
}

function actionsOf(
  { id, status }: ApiKey,
  {
    onCreated,
    onChange,
  }: {
    onCreated: (key: CreatedApiKey) => Promise<void>;
    onChange: () => Promise<void>;
  },
): MenuItem[] {
  const params = { id };
  const rotate: MenuItem = {
    label: "Rotate",
    dialog: (close) => (
      <ConfirmDialog
        onClose={close}
        label="Rotate"
        question="Replace this key by a new one?"
        consequence={`The new key has the same scopes. The old one keeps working for ${overlapHours} hours, so that you can update your servers.`}
        act={async () => onCreated(await api().rotateApiKey({ params, body: { overlapHours } }))}
      />
    ),
  };
  const disable: MenuItem = {
    label: "Disable",
    dialog: (close) => (
      <ConfirmDialog
        onClose={close}
        label="Disable"
        question="Disable this key?"
        consequence="Servers that use it are refused from their next request on."
        act={async () => {
          await api().disableApiKey({ params });
          announce("The key is disabled.");
          await onChange();
        }}
      />
    ),
  };
  const remove: MenuItem = {
    label: "Delete",
    dialog: (close) => (
      <ConfirmDialog
        onClose={close}
        label="Delete"
        question="Delete this key?"
        consequence="It stops working and disappears from this list. The audit log keeps a record of it."
        act={async () => {
          await api().deleteApiKey({ params });
          announce("The key is deleted.");
          await onChange();
        }}
      />
    ),
  };
  return status === "active" ? [rotate, disable, remove] : [remove];
}
