import { HookKind } from "../../../../shared/api/contract/hook-kinds.ts";
import { type CreatedHook } from "../../../../shared/api/contract/hooks.ts";
import { api } from "../api.ts";
import { Code, Secret } from "../parts/copy.tsx";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Form, SelectField, TextField, useForm } from "../parts/form.tsx";
import { ListView, useCreated } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized } from "../problems.ts";
import { given } from "../typed.ts";

const kinds = HookKind.options.map((each) => [each, capitalized(each)] as const);

/** The addresses that login systems call to send their codes. */
export function Hooks() {
  const hooks = usePages(async (query) => api().listHooks({ query }), []);
  const [created, onCreated] = useCreated<CreatedHook>(hooks);
  return (
    <ListView
      title="Login hooks"
      lead="Let your login system send its codes through this gateway."
      actions={
        <DialogButton label="New hook" onDone={onCreated}>
          {(done) => <NewHook onCreated={done} />}
        </DialogButton>
      }
      above={created && <Created hook={created} />}
      heading="Hooks"
      caption="Hooks, newest first"
      pages={hooks}
      columns={{
        System: ({ kind }) => capitalized(kind),
        Address: ({ url }) => <span class="break">{url}</span>,
        Profile: ({ profile = "default" }) => profile,
        Status: ({ status, test }) => <Status of={status} isTest={test} />,
        Created: ({ createdAt }) => <Time at={createdAt} />,
        Actions: ({ id }) => (
          <ConfirmButton
            label="Delete"
            question="Delete this hook?"
            consequence="Calls to its address are rejected, so the login system can send no codes with it."
            act={async () => api().deleteHook({ params: { id } })}
            onDone={hooks.reload}
          />
        ),
      }}
      empty={{
        title: "No hooks yet",
        hint: "Supabase, Auth0, Logto, authentik and Zitadel call a hook to send their codes.",
        action: <DocsLink page="guides/login-systems">Guide to login systems</DocsLink>,
      }}
    />
  );
}

function Created({ hook: { url, token } }: { hook: CreatedHook }) {
  return (
    <Section title="Hook created">
      <p>Enter this address in your login system.</p>
      <Code code={url} label="Address of the hook" />
      {token === undefined ? null : <Secret label="Its token." secret={token} />}
    </Section>
  );
}

function NewHook({ onCreated }: { onCreated: (hook: CreatedHook) => Promise<void> }) {
  const form = useForm({ kind: "supabase", secret: "", profile: "" }, async ({ kind, secret, profile }) =>
    onCreated(
      await api().createHook({
        body: { kind: HookKind.parse(kind), secret: given(secret), profile: given(profile) },
      }),
    ),
  );
  const hint = "Supabase, Auth0 and Zitadel sign their calls. Leave it empty for the others.";
  return (
    <Form form={form} action="Create hook">
      <SelectField field={form.field("kind")} label="Login system" options={kinds} />
      <TextField field={form.field("secret")} label="Its signing secret" type="password" hint={hint} />
      <TextField field={form.field("profile")} label="Profile" hint="Leave empty for the profile default." />
    </Form>
  );
}
