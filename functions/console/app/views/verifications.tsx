import { VerificationStatus, type Verification } from "../../../../shared/api/contract/verifications.ts";
import { api } from "../api.ts";
import { countryName } from "../countries.ts";
import { ActionButton, ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { filtersIn, optionsOf } from "../parts/filter-form.tsx";
import { Form, SelectField, TextField, useForm } from "../parts/form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { Loaded, useLoad, usePages } from "../parts/load.tsx";
import { Money, shareText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { LinkButton, Section } from "../parts/page.tsx";
import { PhoneField, numberText } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { FieldProblem } from "../problems.ts";
import type { ViewProps } from "../router.ts";
import { given, numberIn, prefixIn } from "../typed.ts";

/** The rules of the guard, in words. */
const ruleTexts: Readonly<Record<string, string>> = {
  address: "too many for this internet address",
  countries: "country not in the profile",
  country: "few approvals in this country",
  device: "too many for this device",
  number: "too many to this number",
  range: "few approvals in this number range",
};

/** Verifications, newest first, filtered by the query. Their codes are never shown. */
export function Verifications({ query }: ViewProps) {
  const filters = filtersIn(query, {
    to: { label: "Phone number", type: "phone" },
    status: { label: "Status", options: optionsOf("Any status", VerificationStatus.options) },
  });
  const { to = "", status } = filters.values;
  const filter = { status, to: given(prefixIn(to)) };
  const pages = usePages(
    async (page) => api().listVerifications({ query: { ...page, ...filter } }),
    Object.values(filter),
  );
  const onDone = async (text: string): Promise<void> => {
    await pages.reload();
    announce(text);
  };
  return (
    <ListView
      title="Verifications"
      lead="Codes that show that a person has a phone number."
      actions={
        <>
          <LinkButton href="#/verification-profiles" label="Profiles" />
          <DialogButton label="New verification" onDone={onDone}>
            {(done) => <NewVerification onDone={done} />}
          </DialogButton>
        </>
      }
      filters={filters}
      pages={pages}
      columns={{
        Number: ({ to: number }) => numberText(number),
        Status: ({ status: state, guardRule }) => (
          <>
            <Status of={state} />
            {guardRule === undefined ? null : (
              <div class="muted">Guard: {ruleTexts[guardRule] ?? guardRule}</div>
            )}
          </>
        ),
        Profile: ({ profile }) => profile,
        Sends: { number: ({ sends }) => sends },
        "Checks left": { number: ({ checksLeft }) => checksLeft },
        Started: ({ createdAt }) => <Time at={createdAt} />,
        Price: { number: ({ pricing }) => <Money amount={pricing.message + pricing.fee} /> },
        Actions: (verification) =>
          verification.status === "pending" ? (
            <DialogButton label="Check" title="Check the code" look="small" onDone={onDone}>
              {(done) => <Check of={verification} onDone={done} />}
            </DialogButton>
          ) : null,
      }}
      empty={{
        title: "No verifications",
        hint: "Verify a number here, or from your server with two calls.",
      }}
      below={<Conversion />}
    />
  );
}

/** The share of approved verifications by country. Those whose messages did not arrive do not count. */
function Conversion() {
  const load = useLoad(async () => api().getVerificationConversion(), []);
  if (load.data?.countries.length === 0) return null;
  return (
    <Section title="Last 7 days by country">
      <Loaded load={load}>
        {({ countries }) => (
          <Table
            caption="Verifications by country"
            rows={countries}
            keyOf={({ country }) => country}
            columns={{
              Country: ({ country }) => (country === "none" ? "No country" : countryName(country)),
              Started: { number: ({ started }) => started },
              "Not delivered": { number: ({ undelivered }) => undelivered },
              Approved: { number: ({ approved }) => approved },
              Share: {
                number: ({ started, undelivered, approved }) =>
                  started > undelivered ? shareText(approved / (started - undelivered)) : null,
              },
            }}
          />
        )}
      </Loaded>
    </Section>
  );
}

type Done = (text: string) => Promise<void>;

function NewVerification({ onDone }: { onDone: Done }) {
  const profiles = useLoad(async () => api().listVerificationProfiles({ query: { limit: 100 } }), []);
  const form = useForm({ to: "", profile: "default", senderId: "", code: "" }, async (values, attemptKey) => {
    const [senderId, code] = [given(values.senderId), given(values.code)];
    const body = { to: await numberIn(values.to), profile: values.profile, senderId, code };
    await api().startVerification({ body, idempotencyKey: attemptKey });
    await onDone("Code sent.");
  });
  return (
    <Form form={form} action="Send code">
      <PhoneField field={form.field("to")} hasFocus />
      <SelectField
        field={form.field("profile")}
        label="Profile"
        options={(profiles.data?.rows ?? [{ name: "default" }]).map(({ name }) => [name, name])}
      />
      <TextField field={form.field("senderId")} label="From" hint="Leave empty to use that of the profile." />
      <TextField field={form.field("code")} label="Your own code (optional)" />
    </Form>
  );
}

function Check({ of: { id }, onDone }: { of: Verification; onDone: Done }) {
  const form = useForm({ code: "" }, async ({ code }) => {
    const { valid, checksLeft } = await api().checkVerification({ body: { id, code: code.trim() } });
    if (!valid) throw new FieldProblem("code", `This code is wrong. Checks left: ${checksLeft}.`);
    await onDone("Number verified.");
  });
  const resend = async (): Promise<void> => {
    await api().resendVerification({ params: { id }, body: {} });
    await onDone("Code sent again.");
  };
  return (
    <>
      <Form form={form} action="Check">
        <TextField field={form.field("code")} label="Code" hasFocus />
      </Form>
      <div class="row">
        <ActionButton label="Send again" act={resend} />
        <ConfirmButton
          label="Cancel verification"
          question="Cancel this verification?"
          consequence="Its code can no longer be checked. The fee is returned, the price of messages is not."
          act={async () => {
            await api().cancelVerification({ params: { id } });
            await onDone("Verification cancelled.");
          }}
        />
      </div>
    </>
  );
}
