import { api } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { PasswordForm, useLoginForm } from "../parts/login-fields.tsx";
import { settlePasswordRequest, isPasswordRequested } from "../password-request.ts";
import { session } from "../session.ts";
import { given } from "../typed.ts";

/** Requests the password, and a code if enabled, when a request requires them. */
export function Reauthentication() {
  return isPasswordRequested.value ? <PasswordDialog /> : null;
}

function PasswordDialog() {
  const email = session.value?.user.email ?? "";
  const login = useLoginForm(email, async ({ password, code }) => {
    await api().reauthenticate({ body: { password, code: given(code) } });
    settlePasswordRequest(true);
  });
  const goBack = (): void => settlePasswordRequest(false);
  return (
    <Dialog title="Confirm your password" onClose={goBack}>
      <p>
        This action can move money or give permanent access. Enter the password for{" "}
        <strong dir="auto">{email}</strong> to continue. You will not be asked again for ten minutes.
      </p>
      <PasswordForm login={login} other={["Cancel", goBack]} />
    </Dialog>
  );
}
