import { useSignal } from "@preact/signals";

import { announce } from "./notice.tsx";

/** Copies a text. @returns whether the browser allowed it. If not, the person can select the text */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function CopyButton({ text, what = "Copy" }: { text: string; what?: string }) {
  const label = useSignal(what);
  const onClick = async (): Promise<void> => {
    const isCopied = await copy(text);
    label.value = isCopied ? "Copied" : "Copy manually";
    if (isCopied) announce("Copied.");
  };
  return (
    <button type="button" class="small" onClick={() => void onClick()}>
      {label}
    </button>
  );
}

/** A secret that is shown only once. Without a label, the view explains it. */
export function Secret({ label, secret }: { label?: string; secret: string }) {
  return (
    <div class="secret">
      {label === undefined ? null : (
        <p>
          <strong>{label}</strong> Store it securely now. You will not be able to see it again.
        </p>
      )}
      <div class="row">
        <code>{secret}</code>
        <CopyButton text={secret} what="Copy secret" />
      </div>
    </div>
  );
}

/** Code with a button that copies it. */
export function Code({ code, label }: { code: string; label: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={label} role="region">
        {code}
      </pre>
      <CopyButton text={code} />
    </div>
  );
}

/** A value as JSON, which a person can expand. */
export function JsonDetails({ value, label }: { value: unknown; label: string }) {
  return (
    <details>
      <summary>Show</summary>
      <Code code={JSON.stringify(value, null, 2)} label={label} />
    </details>
  );
}
