import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";

import { linkTo } from "../router.ts";
import type { FormState } from "./form-state.ts";
import { useForm } from "./form.tsx";

/** A form whose fields narrow the list below it. The query of the view has their values. */
export function FilterForm<V extends Record<string, string>>({
  view,
  query,
  action = "Filter",
  children,
}: {
  view: string;
  query: V;
  action?: string;
  children: (form: FormState<V>) => ComponentChildren;
}) {
  const form = useForm(query, async (values) => {
    location.hash = linkTo(view, values);
  });
  useLayoutEffect(() => form.set(query), Object.values(query));
  const submit = (event: Event): void => {
    event.preventDefault();
    void form.submit();
  };
  return (
    <form class="filters" role="search" noValidate onSubmit={submit}>
      {children(form)}
      <button type="submit">{action}</button>
    </form>
  );
}
