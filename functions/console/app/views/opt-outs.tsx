import type { OptOut } from "../../../../shared/api/contract/opt-outs.ts";
import { api } from "../api.ts";
import { ConfirmButton, DialogButton } from "../parts/dialog.tsx";
import { Form, useForm } from "../parts/form.tsx";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { numberText, PhoneField } from "../parts/phone.tsx";
import { Time } from "../parts/time.tsx";
import { numberIn } from "../typed.ts";

const sources: Readonly<Record<OptOut["source"], string>> = {
  api: "Added by you",
  contact: "Set on the contact",
  reply: "Replied STOP",
};

/** Numbers that receive no marketing, whether or not they are contacts. */
export function OptOuts() {
  const optOuts = usePages(async (query) => api().listOptOuts({ query }), []);
  return (
    <ListView
      title="Opt-outs"
      lead="These numbers receive no marketing messages or campaigns. People who replied STOP receive only one-time codes until they reply START."
      back={["#/contacts", "Contacts"]}
      actions={
        <DialogButton label="Add opt-out" onDone={optOuts.reload}>
          {(done) => <NewOptOut onAdded={done} />}
        </DialogButton>
      }
      caption="Numbers that have opted out"
      pages={optOuts}
      keyOf={({ phoneNumber }) => phoneNumber}
      columns={{
        "Phone number": ({ phoneNumber }) => numberText(phoneNumber),
        Source: ({ source }) => sources[source],
        Since: ({ createdAt }) => <Time at={createdAt} />,
        Actions: ({ phoneNumber, source }) =>
          // The organization cannot remove an opt-out that the person sent as STOP.
          source === "reply" ? null : (
            <ConfirmButton
              label="Remove"
              question={`Remove the opt-out for ${numberText(phoneNumber)}?`}
              consequence="This number receives marketing messages again. Remove the opt-out only at the person's request."
              act={async () => api().deleteOptOut({ params: { phoneNumber } })}
              success="Opt-out removed."
              onDone={optOuts.reload}
            />
          ),
      }}
      empty={{ title: "No opt-outs yet", hint: "Add people who asked not to receive marketing." }}
    />
  );
}

function NewOptOut({ onAdded }: { onAdded: () => Promise<void> }) {
  const form = useForm({ phoneNumber: "" }, async ({ phoneNumber }) => {
    await api().createOptOut({ body: { phoneNumber: await numberIn(phoneNumber, "phoneNumber") } });
    announce("Number opted out.");
    await onAdded();
  });
  return (
    <Form form={form} action="Opt out">
      <PhoneField field={form.field("phoneNumber")} hasFocus />
    </Form>
  );
}
