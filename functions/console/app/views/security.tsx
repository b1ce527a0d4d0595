import type { JSX } from "preact";

import { api } from "../api.ts";
import { ActionButton, ConfirmButton } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Form, PasswordField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { SecondFactor } from "../parts/second-factor.tsx";
import { Time } from "../parts/time.tsx";
import { forgetSession, session } from "../session.ts";

/** The person's own account: password, second factor, sessions. */
export function Security(): JSX.Element {
  const { user, organization, endsAtMs = 0 } = session.value ?? {};
  const account = useLoad(async () => api().getMe(), []);
  return (
    <Page title="Security">
      <Section title="Account">
        <Facts
          of={[
            ["Email", <Email of={user?.email ?? ""} />],
            ["Organisation", <Email of={organization?.name ?? ""} />],
            ["User id", <code>{user?.id}</code>],
            ["Organisation id", <code>{organization?.id}</code>],
          ]}
        />
      </Section>
      <VerifyEmail />
      <ChangePassword />
      <Loaded load={account}>{(shown) => <SecondFactor isOn={shown.user.secondFactor} />}</Loaded>
      <Section title="Sessions">
        <p>
          This session ends on <Time at={new Date(endsAtMs).toISOString()} />. It is only in this tab, and
          ends when you close the tab.
        </p>
        <div class="row">
          <ConfirmButton
            label="Log out everywhere"
            question="End all sessions?"
            consequence="You are logged out on all devices and in all tabs, including this one. API keys keep working."
            act={async () => {
              await api().logoutEverywhere();
              forgetSession();
            }}
          />
        </div>
      </Section>
    </Page>
  );
}

/** Where the gateway sends emails; where it sends none, or the email is verified, its answer says so. */
function VerifyEmail(): JSX.Element {
  return (
    <Section title="Email">
      <p>
        Until you verify your email you cannot invite members, and some gateways do not let you send. The link
        in the email asks for your password. Verifying ends what was made before: this session, API keys,
        webhooks and invitations. Log in again afterwards.
      </p>
      <div class="row">
        <ActionButton
          label="Send the link again"
          act={async () => {
            await api().requestEmailVerification();
            announce("We sent you the link.");
          }}
        />
      </div>
    </Section>
  );
}

function ChangePassword(): JSX.Element {
  const form = useForm({ currentPassword: "", newPassword: "" }, async (body) => {
    await api().changePassword({ body });
    form.reset();
    announce("The password is changed. Your other sessions have ended.");
  });
  return (
    <Section title="Password">
      <p>Changing it ends all your other sessions.</p>
      <Form form={form} action="Change password" isNarrow>
        <PasswordField form={form} name="currentPassword" label="Current password" />
        <PasswordField form={form} name="newPassword" label="New password" isNew />
      </Form>
    </Section>
  );
}
