import * as z from "zod/mini";

import type { Billing as BillingOf } from "../../../../shared/api/contract/billing.ts";
import { Country } from "../../../../shared/api/contract/countries.ts";
import { Role } from "../../../../shared/api/contract/scopes.ts";
import { api } from "../api.ts";
import { countryOptions } from "../countries.ts";
import { ChoiceField, Form, SelectField, TextArea, TextField, useForm } from "../parts/form.tsx";
import { Loaded, useLoad, type Load } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Section } from "../parts/page.tsx";
import { PaymentsPage } from "../parts/payments-page.tsx";
import { capitalized } from "../problems.ts";
import { given } from "../typed.ts";

/** The details on invoices, and the recipients of emails about payments. */
export function Billing() {
  const load = useLoad(async () => api().getBilling(), []);
  return (
    <PaymentsPage lead="The details on your invoices. They also decide your tax.">
      <Section title="Billing details">
        <Loaded load={load}>{(billing) => <Details billing={billing} load={load} />}</Loaded>
      </Section>
    </PaymentsPage>
  );
}

const roles = Role.options
  .filter((role) => role !== "owner")
  .map((role) => [role, capitalized(role)] as const);
const defaultRecipients: readonly string[] = ["billing"];

function Details({ billing, load }: { billing: BillingOf; load: Load<BillingOf> }) {
  const { name, address = [], country = "", vatNumber = "", taxNumber = "", emails } = billing.details;
  const { payments = defaultRecipients, warnings = defaultRecipients } = emails ?? {};
  const initial = {
    name,
    address: address.join("\n"),
    country,
    vatNumber,
    taxNumber,
    payments,
    warnings,
  };
  const save = async (values: typeof initial): Promise<void> => {
    const lines = values.address.split("\n").map((line) => line.trim());
    const details = {
      name: values.name.trim(),
      address: lines.filter((line) => line !== ""),
      country: z.optional(Country).parse(given(values.country)),
      vatNumber: given(values.vatNumber.trim()),
      taxNumber: given(values.taxNumber.trim()),
      emails: {
        payments: z.array(Role).parse(values.payments),
        warnings: z.array(Role).parse(values.warnings),
      },
    };
    load.replace(await api().updateBilling({ body: details }));
    announce("Billing details saved.");
  };
  const form = useForm(initial, save, { draft: "billing" });
  return (
    <Form form={form} action="Save" isNarrow>
      <TextField field={form.field("name")} label="Name on invoices" autocomplete="organization" />
      <TextArea field={form.field("address")} label="Address (optional)" rows={3} />
      <SelectField
        field={form.field("country")}
        label="Country"
        options={countryOptions("Same as the gateway operator")}
      />
      <TextField
        field={form.field("vatNumber")}
        label="VAT number (optional)"
        hint={billing.tax.reason ?? "With its country code, for example DE136695976."}
      />
      <TextField
        field={form.field("taxNumber")}
        label="Tax number (optional)"
        hint="Another number that invoices show, for example an ABN or a GSTIN. It does not affect the tax."
      />
      <ChoiceField
        field={form.field("payments", "emails.payments")}
        label="Receipts and invoices by email"
        hint="Owners always receive them, and members with these roles. Each needs a verified email."
        options={roles}
      />
      <ChoiceField
        field={form.field("warnings", "emails.warnings")}
        label="Warnings by email"
        hint="About a low balance, reached limits and failed recharges. Owners always receive them."
        options={roles}
      />
    </Form>
  );
}
