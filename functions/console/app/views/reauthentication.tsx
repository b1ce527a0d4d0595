import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import { RequestError } from "../../../../shared/client.ts";
import { api } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { LoginFields } from "../parts/login-fields.tsx";
import { endQuestion, isAskedForPassword } from "../reauthentication.ts";
import { session } from "../session.ts";
import { given } from "../typed.ts";

/** Asks for the password, and a code where there is a second factor, when the gateway wants them for what is being done. */
export function Reauthentication(): JSX.Element | null {
  return isAskedForPassword.value ? <Question /> : null;
}

function Question(): JSX.Element {
  const email = session.value?.user.email ?? "";
  const needsCode = useSignal(false);
  const form = useForm({ email, password: "", code: "" }, async ({ password, code }) => {
    try {
      await api().reauthenticate({ body: { password, code: given(code) } });
      endQuestion(true);
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== "SECOND_FACTOR_REQUIRED") throw error;
      needsCode.value = true;
    }
  });
  const goBack = (): void => endQuestion(false);
  return (
    <Dialog title="Confirm your password" onClose={goBack}>
      <p>
        This action can give other people permanent access. Enter the password for{" "}
        <strong dir="auto">{email}</strong> to continue. You will not be asked again for ten minutes.
      </p>
      <Form
        form={form}
        action="Continue"
        extra={
          <button type="button" onClick={goBack}>
            Cancel
          </button>
        }
      >
        {/* For the browser's store of passwords. */}
        <input type="text" autocomplete="username" value={email} readOnly hidden />
        <LoginFields form={form} needsCode={needsCode.value} hasFocus />
      </Form>
    </Dialog>
  );
}
