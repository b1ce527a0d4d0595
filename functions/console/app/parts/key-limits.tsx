import type { ApiKey } from "../../../../shared/api/contract/api-keys.ts";
import type { SendLimits } from "../../../../shared/api/contract/key-limits.ts";
import { api } from "../api.ts";
import { currency } from "../features.ts";
import { amountOf } from "../typed.ts";
import type { FormState } from "./form-state.ts";
import { Form, TextArea, TextField, useForm } from "./form.tsx";
import { dialogItem, type MenuItem } from "./menu.tsx";
import { amountText } from "./money.tsx";
import { announce } from "./notice.tsx";

/** The limits of a key as values of a form. */
export function limitValues({ dailyBudget, holdAbove, allowedRecipients, hours }: SendLimits = {}) {
  const { from = "", to = "", timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone } = hours ?? {};
  return {
    dailyBudget: String(dailyBudget ?? ""),
    holdAbove: String(holdAbove ?? ""),
    allowedRecipients: allowedRecipients?.join("\n") ?? "",
    from,
    to,
    timeZone,
  };
}
type LimitValues = ReturnType<typeof limitValues>;

/** The limits that a person has entered. Fields without a value are no limits. */
export function limitsOf({ dailyBudget, holdAbove, allowedRecipients, ...hours }: LimitValues): SendLimits {
  const recipients = partsOf(allowedRecipients);
  return {
    ...(dailyBudget === "" ? {} : { dailyBudget: amountOf("limits.dailyBudget", dailyBudget) }),
    ...(holdAbove === "" ? {} : { holdAbove: amountOf("limits.holdAbove", holdAbove) }),
    ...(recipients.length === 0 ? {} : { allowedRecipients: recipients }),
    ...(hours.from + hours.to === "" ? {} : { hours }),
  };
}

/** The words of a list, separated by spaces, commas or lines. */
export function partsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

type LimitForm = Pick<FormState<LimitValues>, "field">;

/** The limits of what a key spends: for an agent, they matter most. */
export function SpendingFields({ form }: { form: LimitForm }) {
  return (
    <>
      <TextField
        field={form.field("dailyBudget", "limits.dailyBudget")}
        label={`Daily budget (${currency}, optional)`}
        inputMode="decimal"
        hint="The most that the key's messages may cost in a day."
      />
      <TextField
        field={form.field("holdAbove", "limits.holdAbove")}
        label={`Approve messages above (${currency}, optional)`}
        inputMode="decimal"
        hint="Messages above this price wait until you approve them. Enter 0 to approve each message."
      />
    </>
  );
}

export function OtherLimitFields({ form }: { form: LimitForm }) {
  return (
    <>
      <TextArea
        field={form.field("allowedRecipients", "limits.allowedRecipients")}
        label="Allowed recipients (optional)"
        rows={2}
        hint="One phone number, or its first digits, per line."
      />
      <TextField field={form.field("from", "limits.hours.from")} label="Sends from (optional)" type="time" />
      <TextField field={form.field("to", "limits.hours.to")} label="Sends until (optional)" type="time" />
      <TextField field={form.field("timeZone", "limits.hours.timeZone")} label="Time zone of these hours" />
    </>
  );
}

/** The limits of a key in one line. */
export function Limits({ of: { limits = {}, spentToday = 0 } }: { of: ApiKey }) {
  const { dailyBudget, holdAbove, allowedRecipients = [], hours } = limits;
  const texts = [
    dailyBudget !== undefined && `${amountText(spentToday)} of ${amountText(dailyBudget)} spent today`,
    holdAbove !== undefined && `approval above ${amountText(holdAbove)}`,
    allowedRecipients.length > 0 &&
      `only to ${allowedRecipients.slice(0, 3).join(", ")}${allowedRecipients.length > 3 ? " …" : ""}`,
    hours !== undefined && `${hours.from}–${hours.to} ${hours.timeZone}`,
  ];
  return <div class="muted">{texts.filter(Boolean).join("; ")}</div>;
}

/** Returns the menu item that changes the limits of a key; none for a key without limits. */
export function changeLimits(key: ApiKey, onChanged: () => Promise<void>): MenuItem[] {
  if (key.limits === undefined || key.status !== "active") return [];
  return [dialogItem("Change limits", onChanged, (done) => <LimitsForm of={key} onChanged={done} />)];
}

function LimitsForm({ of: { id, limits }, onChanged }: { of: ApiKey; onChanged: () => Promise<void> }) {
  const form = useForm(limitValues(limits), async (values) => {
    await api().updateApiKey({ params: { id }, body: { limits: limitsOf(values) } });
    announce("Limits changed.");
    await onChanged();
  });
  return (
    <Form form={form} action="Save">
      <p>They apply from now on, also to keys that were made with this key and to its replacements.</p>
      <SpendingFields form={form} />
      <OtherLimitFields form={form} />
    </Form>
  );
}
