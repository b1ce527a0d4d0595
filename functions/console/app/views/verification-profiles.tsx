import {
  SaveVerificationProfileRequest,
  type VerificationProfile,
} from "../../../../shared/api/contract/verification-profiles.ts";
import { api } from "../api.ts";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Clamped } from "../parts/table.tsx";
import { FieldProblem } from "../problems.ts";
import { given, tagsOf } from "../typed.ts";

const guards = [
  ["monitor", "Monitor: note what is suspicious"],
  ["block", "Block: reject what is suspicious"],
  ["strict", "Strict: reject after half as many"],
] as const;

/** The profiles of verifications. */
export function VerificationProfiles() {
  const profiles = usePages(async (query) => api().listVerificationProfiles({ query }), []);
  const onSaved = async (): Promise<void> => {
    await profiles.reload();
    announce("Profile saved.");
  };
  return (
    <ListView
      title="Verification profiles"
      lead="How codes are sent: the brand and texts, the limits, and the guard against fraud."
      back={["#/verifications", "Verifications"]}
      actions={
        <DialogButton label="New profile" onDone={onSaved}>
          {(done) => <Editor onSaved={done} />}
        </DialogButton>
      }
      heading="Profiles"
      caption="Verification profiles"
      pages={profiles}
      keyOf={({ name, updatedAt }) => `${name} ${updatedAt}`}
      columns={{
        Name: ({ name }) => name,
        Brand: ({ brand }) => <Clamped>{brand}</Clamped>,
        Code: ({ codeLength, validitySeconds }) =>
          `${codeLength} digits, valid for ${validitySeconds} seconds`,
        Countries: ({ countries }) => countries?.join(", ") ?? "All",
        Guard: ({ guard }) => guard,
        Actions: (profile) => (
          <div class="row">
            <DialogButton label="Edit" title={`Profile ${profile.name}`} look="small" onDone={onSaved}>
              {(done) => <Editor profile={profile} onSaved={done} />}
            </DialogButton>
            {profile.updatedAt === undefined ? null : (
              <ConfirmButton
                label="Delete"
                question={`Delete the profile ${profile.name}?`}
                consequence="Verifications that name it are rejected. The profile default gets its first values again."
                act={async () => api().deleteVerificationProfile({ params: { name: profile.name } })}
                onDone={profiles.reload}
              />
            )}
          </div>
        ),
      }}
    />
  );
}

function Editor({ profile, onSaved }: { profile?: VerificationProfile; onSaved: () => Promise<void> }) {
  const { texts = {}, countries = [], allow = [] } = profile ?? {};
  const guard: string = profile?.guard ?? "monitor";
  const initial = {
    name: profile?.name ?? "",
    brand: profile?.brand ?? "",
    senderId: profile?.senderId ?? "",
    codeLength: String(profile?.codeLength ?? 6),
    validitySeconds: String(profile?.validitySeconds ?? 600),
    texts: Object.entries(texts)
      .map(([locale, text]) => `${locale}: ${text.replaceAll("\n", "\n  ")}`)
      .join("\n"),
    domain: profile?.domain ?? "",
    appHash: profile?.appHash ?? "",
    countries: countries.join(", "),
    guard,
    allow: allow.join(", "),
  };
  const form = useForm(initial, async ({ name, ...values }) => {
    const { shape } = SaveVerificationProfileRequest;
    const typed = tagsOf(values.countries.toUpperCase());
    const chosen = shape.countries.safeParse(typed.length === 0 ? undefined : typed);
    if (!chosen.success) throw new FieldProblem("countries", "Use codes such as GB, separated by commas.");
    const body = {
      brand: values.brand,
      senderId: given(values.senderId),
      codeLength: Number(values.codeLength),
      validitySeconds: Number(values.validitySeconds),
      texts: textsIn(values.texts),
      domain: given(values.domain),
      appHash: given(values.appHash),
      countries: chosen.data,
      guard: shape.guard.parse(values.guard),
      allow: tagsOf(values.allow),
      version: profile?.version,
    };
    await api().saveVerificationProfile({ params: { name: name.trim() }, body });
    await onSaved();
  });
  const text = (name: keyof typeof initial, label: string, hint?: string) => (
    <TextField field={form.field(name)} label={label} hint={hint} />
  );
  return (
    <Form form={form} action="Save">
      {profile === undefined ? text("name", "Name", "Small letters, digits and hyphens.") : null}
      {text("brand", "Brand", "The name of your product in the text, up to 30 characters.")}
      {text("senderId", "From", "Leave empty to use your default sender ID.")}
      {text("codeLength", "Digits of the code")}
      {text("validitySeconds", "Valid for (seconds)")}
      <TextArea
        field={form.field("texts")}
        label="Texts (optional)"
        hint="One per line, such as “en: {code} is your {brand} code.” They may have {minutes} too. Indent further lines of a text."
      />
      {text("domain", "Website (optional)", "A host name such as shop.example.com.")}
      {text("appHash", "Android app hash (optional)")}
      {text("countries", "Countries (optional)", "Codes such as GB, US. Empty allows all countries.")}
      <SelectField field={form.field("guard")} label="Guard" options={guards} />
      {text(
        "allow",
        "Trusted ranges (optional)",
        "First digits of numbers, such as 4477, 1500. Other limits still hold.",
      )}
    </Form>
  );
}

/** Returns the texts by language. @throws FieldProblem for a line without a language */
function textsIn(typed: string): Record<string, string> | undefined {
  // A line that is indented belongs to the text before it.
  const entries = typed.split(/\n(?!\s)/).filter((entry) => entry.trim() !== "");
  const texts = entries.map((entry) => {
    const [, locale, text = ""] = /^\s*([\w-]+)\s*:\s*(.*?)\s*$/s.exec(entry) ?? [];
    if (locale === undefined)
      throw new FieldProblem("texts", "Begin each line with a language, such as “en:”.");
    return [locale, text.replaceAll(/\n {0,2}/g, "\n")] as const;
  });
  return texts.length === 0 ? undefined : Object.fromEntries(texts);
}
