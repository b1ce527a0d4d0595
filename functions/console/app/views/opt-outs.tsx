import type { JSX } from "preact";

import type { OptOut } from "../../../../shared/contract/opt-outs.ts";
import { api } from "../api.ts";
import { ConfirmButton } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { Form, TextField, useForm } from "../parts/form.tsx";
import { usePages } from "../parts/load.tsx";
import { announce } from "../parts/notice.tsx";
import { Page, Section } from "../parts/page.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { phoneNumberOf } from "../typed.ts";

const sources: Readonly<Record<OptOut["source"], string>> = {
  api: "You noted it",
  contact: "You noted it at the contact",
  reply: "They answered STOP",
};

/** The numbers that get no marketing, whether or not they are contacts. */
export function OptOuts(): JSX.Element {
  const optOuts = usePages(async (query) => api().listOptOuts({ query }), []);
  const form = useForm({ phoneNumber: "" }, async ({ phoneNumber }) => {
    await api().createOptOut({ body: { phoneNumber: phoneNumberOf(phoneNumber) } });
    announce("The opt-out is noted.");
    form.reset();
    await optOuts.reload();
  });
  return (
    <Page
      title="Opt-outs"
      lead="These numbers get no marketing and no campaigns. One-time codes and transactional messages reach them."
      back={["#/contacts", "Contacts"]}
    >
      <Section title="Note an opt-out">
        <Form form={form} action="Note it" isNarrow>
          <TextField form={form} name="phoneNumber" label="Number" type="tel" placeholder="+1 500 555 0000" />
        </Form>
      </Section>
      <Section title="Opt-outs">
        <PagedTable
          caption="Numbers that have opted out"
          pages={optOuts}
          keyOf={({ phoneNumber }) => phoneNumber}
          columns={[
            { title: "Number", show: ({ phoneNumber }) => phoneNumber },
            { title: "How", show: ({ source }) => sources[source] },
            { title: "Since", show: ({ createdAt }) => <Time at={createdAt} /> },
            {
              title: "Actions",
              show: ({ phoneNumber }) => (
                <ConfirmButton
                  label="Lift"
                  question={`Lift the opt-out of ${phoneNumber}?`}
                  consequence="They get marketing again. Do so only if they have asked for it."
                  act={async () => {
                    await api().deleteOptOut({ params: { phoneNumber } });
                    announce("The opt-out is lifted.");
                    await optOuts.reload();
                  }}
                />
              ),
            },
          ]}
          empty={
            <Empty title="Nobody has opted out">
              <p>Who tells you that they want no more marketing belongs here.</p>
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
