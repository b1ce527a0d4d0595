import { useLayoutEffect } from "preact/hooks";

import { capitalized } from "../problems.ts";
import { here, linkTo } from "../router.ts";
import { SelectField, TextField, useForm } from "./form.tsx";
import { PhoneField } from "./phone.tsx";

/** The values of a filter, and the words for them. */
type Options<Value extends string = string> = readonly (readonly [value: Value, words: string])[];

/** A field that narrows a list. Without a label it is not shown, and only links set its value. */
interface FilterField {
  readonly label?: string;
  readonly type?: "date" | "datetime-local" | "phone" | "search" | "tel" | "text";
  readonly options?: Options;
  readonly hasFocus?: boolean;
}

/** The fields of a filter by their names in the query of the view. */
type FilterFields = Readonly<Record<string, FilterField>>;

/** One of the options, or a text. */
type ValueOf<F extends FilterField> = F extends { readonly options: Options<infer Value> }
  ? Exclude<Value, "">
  : string;

/** The fields of a filter and their values, which are undefined if they are empty. */
export interface Filters<F extends FilterFields = FilterFields> {
  readonly fields: F;
  readonly values: { readonly [Name in keyof F]: ValueOf<F[Name]> | undefined };
}

/** Reads the values of a filter from the query of a view. A value that is not among the options counts as empty. */
export function filtersIn<const F extends FilterFields>(query: URLSearchParams, fields: F): Filters<F> {
  const values = Object.entries<FilterField>(fields).map(([name, { options }]) => {
    const value = query.get(name)?.trim() ?? "";
    const isEmpty = value === "" || options?.every(([option]) => option !== value) === true;
    return [name, isEmpty ? undefined : value] as const;
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The entries have the names of the fields.
  return { fields, values: Object.fromEntries(values) as Filters<F>["values"] };
}

/** Whether a filter leaves rows out. */
export function isFiltered({ values }: Filters): boolean {
  return Object.values(values).some((value) => value !== undefined);
}

/** The options of a filter by a status or kind, the first of which leaves it open. */
export function optionsOf<Value extends string>(
  any: string,
  values: readonly Value[],
  wordsOf: (value: Value) => string = capitalized,
): Options<Value | ""> {
  return [["", any], ...values.map((value) => [value, wordsOf(value)] as const)];
}

/**
 * A form whose fields narrow the list below it. The query of the view has their values.
 * @param view the path of the view
 */
export function FilterForm({
  fields,
  values,
  view = here.value.parts.join("/"),
  action = "Filter",
}: {
  readonly fields: FilterFields;
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly view?: string;
  readonly action?: string;
}) {
  const query = Object.fromEntries(Object.entries(values).map(([name, value = ""]) => [name, value]));
  const form = useForm(query, async (changed) => {
    location.hash = linkTo(view, changed);
  });
  useLayoutEffect(() => form.set(query), Object.values(query));
  const submit = (event: Event): void => {
    event.preventDefault();
    void form.submit();
  };
  return (
    <form class="filters" role="search" noValidate onSubmit={submit}>
      {Object.entries(fields).map(([name, { label, type = "text", options, hasFocus = false }]) => {
        if (label === undefined) return null;
        const props = { key: name, field: form.field(name), label };
        if (options !== undefined) return <SelectField {...props} options={options} />;
        if (type === "phone") return <PhoneField {...props} />;
        return <TextField {...props} type={type} hasFocus={hasFocus} />;
      })}
      <button type="submit">{action}</button>
    </form>
  );
}
