import { allSenderRules, type SenderRule } from "../../../../shared/api/contract/sender-rules.ts";
import { api } from "../api.ts";
import { countryName } from "../countries.ts";
import { ActionButton, DialogButton } from "../parts/dialog.tsx";
import { DocsLink } from "../parts/docs-link.tsx";
import { Form, TextArea, TextField, useForm } from "../parts/form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Status } from "../parts/status.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { given } from "../typed.ts";

export function SenderIds() {
  const senderIds = usePages(async (query) => api().listSenderIds({ query }), []);
  return (
    <ListView
      title="Sender IDs"
      lead="Names that your messages are sent from. The gateway operator approves them."
      actions={
        <DialogButton label="Request sender ID" onDone={senderIds.reload}>
          {(done) => <Request onRequested={done} />}
        </DialogButton>
      }
      pages={senderIds}
      columns={{
        "Sender ID": ({ senderId, isDefault }) => (
          <>
            <strong class="whole">{senderId}</strong> {isDefault ? <span class="tag">Default</span> : null}
          </>
        ),
        Status: ({ status, rejectionReason }) => (
          <>
            <Status of={status} />{" "}
            {rejectionReason === undefined ? null : <span dir="auto">{rejectionReason}</span>}
          </>
        ),
        "Use case": ({ useCase }) => <Clamped>{useCase}</Clamped>,
        Requested: ({ createdAt }) => <Time at={createdAt} />,
        Actions: ({ id, status, isDefault }) =>
          status === "approved" && !isDefault ? (
            <ActionButton
              label="Set as default"
              act={async () => api().setDefaultSenderId({ params: { id } })}
              success="Default sender ID changed."
              onDone={senderIds.reload}
            />
          ) : null,
      }}
      empty={{
        title: "No sender IDs yet",
        hint: "Request a sender ID. Once approved, your messages use it by default.",
      }}
    />
  );
}

function Request({ onRequested }: { onRequested: () => Promise<void> }) {
  const form = useForm(
    { senderId: "", useCase: "" },
    async ({ senderId, useCase }) => {
      await api().createSenderId({ body: { senderId: senderId.trim(), useCase: given(useCase) } });
      announce("Sender ID requested.");
      await onRequested();
    },
    { draft: "sender-id" },
  );
  return (
    <Form form={form} action="Request">
      <TextField
        field={form.field("senderId")}
        label="Sender ID"
        placeholder="ADASHOP"
        hint="Up to 11 letters and digits, for example your business name."
        hasFocus
      />
      <TextArea
        field={form.field("useCase")}
        label="Use case (optional)"
        rows={3}
        hint="Helps the gateway operator review your request."
      />
      <Notice tone="info">
        Some countries have rules of their own. No names are accepted in {countriesWith("never")}. A
        registration is required in {countriesWith("registered")}.{" "}
        <DocsLink page="guides/going-live#sender-ids-by-country">Rules by country</DocsLink>
      </Notice>
    </Form>
  );
}

/** The countries with a rule, in the viewer's language. */
function countriesWith(alpha: SenderRule["alpha"]): string {
  const countries = allSenderRules().filter((rule) => rule.alpha === alpha);
  const names = countries.map(({ country }) => countryName(country));
  return new Intl.ListFormat().format(names.toSorted((one, other) => one.localeCompare(other)));
}
