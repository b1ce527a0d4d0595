import { api } from "../api.ts";
import { ActionButton } from "../parts/dialog.tsx";
import { Email } from "../parts/email.tsx";
import { Form, PasswordField } from "../parts/form.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { CodeField, useCodeForm } from "../parts/login-fields.tsx";
import { announce } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { SecondFactor } from "../parts/second-factor.tsx";
import { Sessions } from "../parts/sessions.tsx";
import { Status } from "../parts/status.tsx";
import { session } from "../session.ts";
import { given } from "../typed.ts";

/** The person's own account. */
export function Security() {
  const { user, organization } = session.value ?? {};
  const account = useLoad(async () => api().getMe(), []);
  return (
    <Page title="Security">
      <Section title="Account">
        <Facts
          of={{
            Email: <Email of={user?.email ?? ""} />,
            Organization: <Email of={organization?.name ?? ""} />,
            "User ID": <code>{user?.id}</code>,
            "Organization ID": <code>{organization?.id}</code>,
          }}
        />
      </Section>
      <Loaded load={account}>{(shown) => <SecondFactor {...shown} />}</Loaded>
      <Loaded load={account}>
        {(shown) => <VerifyEmail isVerified={shown.user.emailVerified === true} />}
      </Loaded>
      <ChangePassword />
      <Sessions />
    </Page>
  );
}

/** If the gateway sends no emails, its response reports that. */
function VerifyEmail({ isVerified }: { isVerified: boolean }) {
  if (isVerified) {
    return (
      <Section title="Email verification">
        <Status of="verified" />
      </Section>
    );
  }
  return (
    <Section title="Email verification">
      <p>
        You need a verified email to invite members and, on some gateways, to send messages. Verification
        requires your password, and keeps everything that you created.
      </p>
      <div class="row">
        <ActionButton
          label="Resend verification email"
          act={async () => api().requestEmailVerification()}
          success="Verification email sent."
        />
      </div>
    </Section>
  );
}

function ChangePassword() {
  const initial = { currentPassword: "", newPassword: "", code: "" };
  const { form, needsCode } = useCodeForm(initial, async ({ code, ...passwords }) => {
    await api().changePassword({ body: { ...passwords, code: given(code) } });
    form.reset();
    announce("Password changed. Your other sessions have ended.");
  });
  return (
    <Section title="Password">
      <p>Changing your password ends all your other sessions.</p>
      <Form form={form} action="Change password" isNarrow>
        <PasswordField field={form.field("currentPassword")} label="Current password" />
        <PasswordField field={form.field("newPassword")} label="New password" isNew />
        {needsCode ? <CodeField field={form.field("code")} /> : null}
      </Form>
    </Section>
  );
}
