import { useSignal } from "@preact/signals";

import type { Account } from "../../../../shared/api/contract/accounts.ts";
import type { StartedTotp } from "../../../../shared/api/contract/second-factor.ts";
import { api } from "../api.ts";
import { leftView } from "../router.ts";
import { Code, Secret } from "./copy.tsx";
import { Form, PasswordField, TextField, useForm } from "./form.tsx";
import { announce, Notice } from "./notice.tsx";
import { Section } from "./page.tsx";
import { QrCode } from "./qr-code.tsx";
import { Status } from "./status.tsx";

/** Sets up two-factor authentication with an authenticator app, or removes it if the organization does not require it. */
export function SecondFactor({ user, organization }: Account) {
  const isRequired = organization.secondFactorRequired;
  const isEnabled = useSignal(user.secondFactor);
  const started = useSignal<StartedTotp | undefined>(undefined);
  const recoveryCodes = useSignal<readonly string[]>([]);
  return (
    <Section title="Two-factor authentication">
      <Status of={isEnabled.value ? "enabled" : "off"} />
      {recoveryCodes.value.length === 0 ? null : <RecoveryCodes codes={recoveryCodes.value} />}
      {isRequired ? (
        <Notice tone="info">
          Your organization requires two-factor authentication.{" "}
          {isEnabled.value ? null : "Set it up to continue."}
          {recoveryCodes.value.length === 0 ? null : <a href={leftView.value}>Continue</a>}
        </Notice>
      ) : null}
      {isEnabled.value && isRequired ? null : isEnabled.value ? (
        <Remove onDone={() => (isEnabled.value = false)} />
      ) : started.value === undefined ? (
        <Start onStarted={(made) => (started.value = made)} />
      ) : (
        <Confirm
          started={started.value}
          onConfirmed={(codes) => {
            recoveryCodes.value = codes;
            started.value = undefined;
            isEnabled.value = true;
          }}
        />
      )}
    </Section>
  );
}

function Start({ onStarted }: { onStarted: (started: StartedTotp) => void }) {
  const form = useForm({ password: "" }, async ({ password }) => {
    onStarted(await api().startTotp({ body: { password } }));
  });
  return (
    <>
      <p>
        Protects your account even if someone learns your password. You enter a code from an authenticator app
        each time you log in.
      </p>
      <Form form={form} action="Enable" isNarrow>
        <PasswordField field={form.field("password")} label="Confirm your password" />
      </Form>
    </>
  );
}

function Confirm({
  started,
  onConfirmed,
}: {
  started: StartedTotp;
  onConfirmed: (recoveryCodes: readonly string[]) => void;
}) {
  const form = useForm({ code: "" }, async ({ code }) => {
    const { recoveryCodes } = await api().confirmTotp({ body: { code } });
    announce("Two-factor authentication enabled.");
    onConfirmed(recoveryCodes);
  });
  return (
    <>
      <p>
        Scan this code with your authenticator app. If the app is on this device, open{" "}
        <a href={started.uri}>this link</a> or enter the secret manually.
      </p>
      <QrCode text={started.uri} label="QR code of the secret" />
      <Secret secret={started.secret} />
      <Form form={form} action="Confirm" isNarrow>
        <TextField
          field={form.field("code")}
          label="Authentication code"
          inputMode="numeric"
          autocomplete="one-time-code"
        />
      </Form>
    </>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  return (
    <>
      <Notice tone="good">
        <strong>Save these recovery codes.</strong> If you lose access to your app, each code lets you log in
        once. You will not be able to see them again.
      </Notice>
      <Code code={codes.join("\n")} label="Recovery codes" />
    </>
  );
}

function Remove({ onDone }: { onDone: () => void }) {
  const form = useForm({ password: "", code: "" }, async (body) => {
    await api().deleteTotp({ body });
    announce("Two-factor authentication disabled.");
    onDone();
  });
  return (
    <details>
      <summary>Disable two-factor authentication</summary>
      <Form form={form} action="Disable" isNarrow>
        <PasswordField field={form.field("password")} label="Confirm your password" />
        <TextField
          field={form.field("code")}
          label="Authentication or recovery code"
          autocomplete="one-time-code"
        />
      </Form>
    </details>
  );
}
