import { useSignal } from "@preact/signals";

import { RequestError } from "../../../../shared/api/client/client.ts";
import { api } from "../api.ts";
import { startSession } from "../session.ts";
import { given } from "../typed.ts";
import type { Field, FormState } from "./form-state.ts";
import { Form, PasswordField, TextField, useForm } from "./form.tsx";
import { Notice } from "./notice.tsx";

interface LoginValues extends Record<string, string> {
  readonly email: string;
  readonly password: string;
  readonly code: string;
}

/**
 * A form for a user's password. If the gateway also requires a second factor, the form adds a field for the code and keeps
 * its values.
 */
export function useLoginForm(email: string, submit: (values: LoginValues) => Promise<void>) {
  return useCodeForm<LoginValues>({ email, password: "", code: "" }, submit);
}

/** A form that needs a code once the gateway requires it. `CodeField` is its field. */
export function useCodeForm<V extends Record<string, string> & { readonly code: string }>(
  initial: V,
  submit: (values: V) => Promise<void>,
): { form: FormState<V>; needsCode: boolean } {
  const needsCode = useSignal(false);
  const form = useForm<V>(initial, async (values) => {
    try {
      await submit(values);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
      needsCode.value = true;
    }
  });
  return { form, needsCode: needsCode.value };
}

/** Logs in and starts the session. */
export async function logIn({ email, password, code }: LoginValues): Promise<void> {
  startSession(await api().createSession({ body: { email: email.trim(), password, code: given(code) } }));
}

/** The form of a dialog that requests the user's password, with a second button. */
export function PasswordForm({
  login,
  other: [label, act],
}: {
  login: ReturnType<typeof useLoginForm>;
  other: readonly [label: string, act: () => void];
}) {
  const other = (
    <button type="button" onClick={act}>
      {label}
    </button>
  );
  return (
    <Form form={login.form} action="Continue" extra={other}>
      {/* For the browser's password manager. */}
      <input type="text" autocomplete="username" value={login.form.values.value.email} readOnly hidden />
      <LoginFields {...login} hasFocus />
    </Form>
  );
}

/** The login fields after the email. */
export function LoginFields({
  form,
  needsCode,
  hasFocus = false,
}: ReturnType<typeof useLoginForm> & { hasFocus?: boolean }) {
  return (
    <>
      <PasswordField field={form.field("password")} label="Password" hasFocus={hasFocus} />
      {needsCode ? <CodeField field={form.field("code")} /> : null}
    </>
  );
}

export function CodeField({ field }: { field: Field<string> }) {
  return (
    <>
      <Notice tone="info">Enter the code from your authenticator app.</Notice>
      <TextField
        field={field}
        label="Code"
        autocomplete="one-time-code"
        hint="Enter six digits, or a recovery code."
        hasFocus
      />
    </>
  );
}
