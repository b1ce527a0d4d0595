import * as z from "zod/mini";

import { Country } from "../../../../shared/api/contract/countries.ts";
import type { KycSubmission } from "../../../../shared/api/contract/kyc.ts";
import { api } from "../api.ts";
import { countryName, countryOptions } from "../countries.ts";
import { Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad, type Load } from "../parts/load.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Facts, Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { optionalTime, Time } from "../parts/time.tsx";
import { given } from "../typed.ts";

/** The business details that the operator reviews. */
export function Kyc() {
  const load = useLoad(async () => api().getKyc(), []);
  return (
    <Page
      title="Business verification"
      lead="Gateways and carriers must know which business sends messages (KYC). Some gateways let you send only after approval."
    >
      <Loaded load={load}>
        {(submission) => (
          <>
            {submission === null ? null : <Submission submission={submission} />}
            {submission?.status === "approved" ? null : (
              <Section title={submission === null ? "Business details" : "Submit new details"}>
                <BusinessDetails submission={submission} load={load} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Submission({ submission }: { submission: KycSubmission }) {
  const { status, rejectionReason, submittedAt, decidedAt } = submission;
  return (
    <Section title="Your submission">
      <Status of={status} />
      {status === "pending" ? <p>The gateway operator is reviewing your submission.</p> : null}
      {rejectionReason === undefined ? null : (
        <Notice tone="bad">
          <span dir="auto">{rejectionReason}</span>
        </Notice>
      )}
      <Facts
        of={{
          Business: submission.businessName,
          "Registration number": submission.registrationNumber,
          Country: submission.country === undefined ? undefined : countryName(submission.country),
          Address: submission.address,
          "Contact person": submission.contactName,
          Website: submission.website,
          Submitted: <Time at={submittedAt} />,
          Reviewed: optionalTime(decidedAt),
        }}
      />
    </Section>
  );
}

function BusinessDetails({
  submission,
  load,
}: {
  submission: KycSubmission | null;
  load: Load<KycSubmission | null>;
}) {
  const initial = {
    businessName: submission?.businessName ?? "",
    registrationNumber: submission?.registrationNumber ?? "",
    country: submission?.country ?? "",
    address: submission?.address ?? "",
    contactName: submission?.contactName ?? "",
    website: submission?.website ?? "",
  };
  const submit = async (values: typeof initial): Promise<void> => {
    const submitted = await api().submitKyc({
      body: {
        businessName: values.businessName.trim(),
        registrationNumber: given(values.registrationNumber),
        country: z.optional(Country).parse(given(values.country)),
        address: given(values.address),
        contactName: given(values.contactName),
        website: given(values.website),
      },
    });
    load.replace(submitted);
    announce("Submitted for review.");
  };
  const form = useForm(initial, submit, { draft: "kyc" });
  return (
    <Form form={form} action="Submit" isNarrow>
      <TextField field={form.field("businessName")} label="Business name" autocomplete="organization" />
      <TextField
        field={form.field("registrationNumber")}
        label="Registration number (optional)"
        hint="As shown in the company register."
      />
      <SelectField
        field={form.field("country")}
        label="Country (optional)"
        options={countryOptions("Not specified")}
      />
      <TextArea field={form.field("address")} label="Address (optional)" rows={3} />
      <TextField field={form.field("contactName")} label="Contact person (optional)" autocomplete="name" />
      <TextField
        field={form.field("website")}
        label="Website (optional)"
        type="url"
        placeholder="https://shop.example"
      />
    </Form>
  );
}
