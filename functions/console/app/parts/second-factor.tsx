import { useSignal } from "@preact/signals";
import type { JSX } from "preact";

import type { StartedTotp } from "../../../../shared/contract/second-factor.ts";
import { api } from "../api.ts";
import { Code, CopyButton } from "./copy.tsx";
import { Form, PasswordField, TextField, useForm } from "./form.tsx";
import { announce, Notice } from "./notice.tsx";
import { Section } from "./page.tsx";
import { QrCode } from "./qr-code.tsx";
import { Status } from "./status.tsx";

/** A code of an authenticator app at each log-in, beside the password. */
export function SecondFactor({ isOn }: { isOn: boolean }): JSX.Element {
  const isEnabled = useSignal(isOn);
  const started = useSignal<StartedTotp | undefined>(undefined);
  const recoveryCodes = useSignal<readonly string[]>([]);
  return (
    <Section title="Second factor">
      <Status of={isEnabled.value ? "enabled" : "off"} />
      {recoveryCodes.value.length === 0 ? null : <RecoveryCodes codes={recoveryCodes.value} />}
      {isEnabled.value ? (
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

function Start({ onStarted }: { onStarted: (started: StartedTotp) => void }): JSX.Element {
  const form = useForm({ password: "" }, async ({ password }) => {
    onStarted(await api().startTotp({ body: { password } }));
  });
  return (
    <>
      <p>With one, a password that others know lets nobody in. You need an authenticator app.</p>
      <Form form={form} action="Set one up" isNarrow>
        <PasswordField form={form} name="password" label="Your password, once more" />
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
}): JSX.Element {
  const form = useForm({ code: "" }, async ({ code }) => {
    const { recoveryCodes } = await api().confirmTotp({ body: { code } });
    announce("Log-ins need a code from now on.");
    onConfirmed(recoveryCodes);
  });
  return (
    <>
      <p>
        Let your app read this code. On the phone that has the app, <a href={started.uri}>this link</a> does
        the same; or put the secret into it by hand.
      </p>
      <QrCode text={started.uri} label="The secret as a QR code" />
      <div class="secret">
        <div class="row">
          <code class="wide">{started.secret}</code>
          <CopyButton text={started.secret} what="Copy secret" />
        </div>
      </div>
      <Form form={form} action="Confirm" isNarrow>
        <TextField
          form={form}
          name="code"
          label="The six digits that the app shows now"
          inputMode="numeric"
          autocomplete="one-time-code"
        />
      </Form>
    </>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }): JSX.Element {
  return (
    <>
      <Notice tone="good">
        <p>
          <strong>Keep these recovery codes.</strong> Each lets you in once, on the day when the app is lost.
          They are shown this once.
        </p>
      </Notice>
      <Code code={codes.join("\n")} label="Recovery codes" />
    </>
  );
}

function Remove({ onDone }: { onDone: () => void }): JSX.Element {
  const form = useForm({ password: "", code: "" }, async (body) => {
    await api().deleteTotp({ body });
    announce("Log-ins need no code any more.");
    onDone();
  });
  return (
    <details>
      <summary>Remove the second factor</summary>
      <Form form={form} action="Remove it" isNarrow>
        <PasswordField form={form} name="password" label="Your password, once more" />
        <TextField
          form={form}
          name="code"
          label="A code of the app, or a recovery code"
          autocomplete="one-time-code"
        />
      </Form>
    </details>
  );
}
