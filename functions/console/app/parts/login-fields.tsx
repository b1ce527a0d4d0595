import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { RequestError } from "../../../../shared/client.ts";
import { api } from "../api.ts";
import { startSession } from "../session.ts";
import { given } from "../typed.ts";
import type { FormState } from "./form-state.ts";
import { PasswordField, TextField, useForm } from "./form.tsx";
import { Notice } from "./notice.tsx";

interface LoginValues extends Record<string, string> {
  readonly email: string;
  readonly password: string;
  readonly code: string;
}

/**
 * A form that logs in. Whether somebody needs a code beside the password, the gateway says once the password is right;
 * the form then asks for it too, with all that was typed still there.
 */
export function useLoginForm(email: string): { form: FormState<LoginValues>; needsCode: boolean } {
  const needsCode = useSignal(false);
  const form = useForm<LoginValues>({ email, password: "", code: "" }, async (values) => {
    const { password, code } = values;
    try {
      startSession(await api().login({ body: { email: values.email.trim(), password, code: given(code) } }));
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
      needsCode.value = true;
    }
  });
  return { form, needsCode: needsCode.value };
}

/** The fields of a log-in behind that of the email. */
export function LoginFields({
  form,
  needsCode,
  hasFocus = false,
}: ReturnType<typeof useLoginForm> & { hasFocus?: boolean }): JSX.Element {
  return (
    <>
      <PasswordField form={form} name="password" label="Password" hasFocus={hasFocus} />
      {needsCode ? (
        <>
          <Notice tone="info">Enter the code from your authenticator app.</Notice>
          <TextField
            form={form}
            name="code"
            label="Code"
            autocomplete="one-time-code"
            hint="Enter six digits, or a recovery code."
            hasFocus
          />
        </>
      ) : null}
    </>
  );
}
