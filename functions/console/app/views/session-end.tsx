import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { api, logout } from "../api.ts";
import { Dialog } from "../parts/dialog.tsx";
import { logIn, PasswordForm, useLoginForm } from "../parts/login-fields.tsx";
import { Notice } from "../parts/notice.tsx";
import { session, sessionState } from "../session.ts";

/** Warns before the session ends and lets the person log in again without losing input. */
export function SessionEnd() {
  const isAsking = useSignal(false);
  const { value: state } = sessionState;
  if (state === "active") return null;
  if (state === "over" || isAsking.value) {
    return <LoginAgain isOver={state === "over"} onClose={() => (isAsking.value = false)} />;
  }
  // A request renews the session. Twelve hours after the login, only another login does.
  const stay = async (): Promise<void> => {
    await api()
      .getMe()
      .catch(() => undefined);
    isAsking.value = sessionState.peek() !== "active";
  };
  return (
    <div class="session-warning">
      <Notice tone="bad">
        <p>Your session ends in less than two minutes. Stay logged in to keep your changes.</p>
        <button type="button" class="primary" onClick={() => void stay()}>
          Stay logged in
        </button>
      </Notice>
    </div>
  );
}

function LoginAgain({ isOver, onClose }: { isOver: boolean; onClose: () => void }) {
  const email = session.value?.user.email ?? "";
  const login = useLoginForm(email, logIn);
  // The dialog unmounts when a new session starts.
  useEffect(() => onClose, []);
  return (
    <Dialog title={isOver ? "Your session has ended" : "Stay logged in"} {...(isOver ? {} : { onClose })}>
      <p>
        Enter the password for <strong dir="auto">{email}</strong> to continue. Your changes are kept.
      </p>
      <PasswordForm login={login} other={["Log out", () => void logout()]} />
    </Dialog>
  );
}
