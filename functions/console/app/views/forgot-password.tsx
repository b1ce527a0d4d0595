import { useSignal } from "@preact/signals";

import { api } from "../api.ts";
import { Form, TextField, useForm } from "../parts/form.tsx";
import { Notice } from "../parts/notice.tsx";
import { Page } from "../parts/page.tsx";

/** Sends a password reset link. The page does not reveal whether the account exists. */
export function ForgotPassword() {
  const requestedFor = useSignal<string | undefined>(undefined);
  const form = useForm({ email: "" }, async ({ email }) => {
    await api().requestPasswordReset({ body: { email: email.trim() } });
    requestedFor.value = email.trim();
  });
  return (
    <Page title="Reset your password" lead="We email you a link to set a new password.">
      {requestedFor.value === undefined ? (
        <Form form={form} action="Send link">
          <TextField
            field={form.field("email")}
            label="Email"
            type="email"
            autocomplete="username"
            hasFocus
          />
        </Form>
      ) : (
        <Notice tone="good">
          If an account exists for <strong dir="auto">{requestedFor.value}</strong>, you will receive an email
          with a link.
        </Notice>
      )}
      <p>
        <a href="#/">Log in</a>
      </p>
    </Page>
  );
}
