import { signal } from "@preact/signals";
import type { ComponentProps } from "preact";

import { countryOptions } from "../countries.ts";
import { needsCountry, phoneCountry } from "../typed.ts";
import { fieldOf, type Field } from "./form-state.ts";
import { SelectField, TextField } from "./form.tsx";

/** A phone number, and its country if the person writes it as in a country. */
export function PhoneField(props: Partial<ComponentProps<typeof TextField>> & { field: Field<string> }) {
  return (
    <>
      <TextField label="Phone number" {...props} type="tel" placeholder="+1 500 555 0000" />
      {needsCountry(props.field.value) ? <CountryOfNumber label="Country of the number" /> : null}
    </>
  );
}

/** The choice of the country of numbers without a country code. */
export function CountryOfNumber({ label, none = "Choose a country" }: { label: string; none?: string }) {
  return (
    <SelectField field={fieldOf("country", phoneCountry)} label={label} options={countryOptions(none)} />
  );
}

/** How numbers are written: in digits, until the patterns of all countries are loaded. */
const format = signal<((number: string) => string) | undefined>(undefined);
let loading: Promise<void> | undefined;

/** Returns a number as people write it: `+49 171 1000000`. The names of senders, and short codes, stay as they are. */
export function numberText(number: string): string {
  if (!/^[1-9]\d{6,14}$/.test(number)) return number;
  loading ??= import("../../../../shared/api/read-number.ts").then(
    ({ formatNumber }) => void (format.value = formatNumber),
    () => void (loading = undefined),
  );
  return format.value?.(number) ?? `+${number}`;
}
