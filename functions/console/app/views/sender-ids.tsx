import type { JSX } from "preact";

import { api } from "../api.ts";
import { ActionButton } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { Form, TextArea, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { given } from "../typed.ts";

/** The names to send under. */
export function SenderIds(): JSX.Element {
  const senderIds = usePages(async (query) => api().listSenderIds({ query }), []);
  const form = useForm({ senderId: "", useCase: "" }, async ({ senderId, useCase }) => {
    await api().createSenderId({ body: { senderId: senderId.trim(), useCase: given(useCase) } });
    announce("The sender ID is requested.");
    form.reset();
    await senderIds.reload();
  });
  return (
    <Page title="Sender IDs" lead="Names that messages come from. The operator of the gateway approves them.">
      <Section title="Request a sender ID">
        <Form form={form} action="Request" isNarrow>
          <TextField
            form={form}
            name="senderId"
            label="Sender ID"
            placeholder="ADASHOP"
            hint="Up to 11 letters and digits, such as the name of your shop."
          />
          <TextArea
            form={form}
            name="useCase"
            label="What the messages are about (optional)"
            rows={3}
            hint="For whoever decides on the request."
          />
        </Form>
      </Section>
      <Section title="Sender IDs">
        <PagedTable
          caption="Sender IDs, newest first"
          pages={senderIds}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Sender ID",
              show: ({ senderId, isDefault }) => (
                <>
                  <strong class="whole">{senderId}</strong>{" "}
                  {isDefault ? <span class="tag">default</span> : null}
                </>
              ),
            },
            {
              title: "State",
              show: ({ status, rejectionReason }) => (
                <>
                  <Status of={status} />{" "}
                  {rejectionReason === undefined ? null : <span dir="auto">{rejectionReason}</span>}
                </>
              ),
            },
            {
              title: "About",
              show: ({ useCase }) => (
                <span class="clamp" dir="auto">
                  {useCase}
                </span>
              ),
            },
            { title: "Requested", show: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: "Actions",
              show: ({ id, status, isDefault }) =>
                status === "approved" && !isDefault ? (
                  <ActionButton
                    label="Make it the default"
                    act={async () => {
                      await api().setDefaultSenderId({ params: { id } });
                      announce("Messages that name no sender ID carry this one now.");
                      await senderIds.reload();
                    }}
                  />
                ) : null,
            },
          ]}
          empty={
            <Empty title="No sender IDs yet">
              <p>Request one above. Once it is approved, messages need not say whom they come from.</p>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
