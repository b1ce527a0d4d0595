import {
  RecipientOutcome,
  type Campaign,
  type CampaignRecipient,
} from "../../../../shared/api/contract/campaigns.ts";
import { api } from "../api.ts";
import { ConfirmButton } from "../parts/dialog.tsx";
import { ExportButton } from "../parts/export.tsx";
import { FilterForm, filtersIn, optionsOf } from "../parts/filter-form.tsx";
import { Loaded, useLoad, usePages, type Pages } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce } from "../parts/notice.tsx";
import { Page } from "../parts/page.tsx";
import { numberText } from "../parts/phone.tsx";
import { Status } from "../parts/status.tsx";
import { Clamped, PagedTable } from "../parts/table.tsx";
import { capitalized } from "../problems.ts";
import { go, type ViewProps } from "../router.ts";

const outcomes = optionsOf("Everyone with a message", RecipientOutcome.options, (each) =>
  capitalized(each.replace("_", " ")),
);

/** The most contacts of the audience of one campaign. */
const maxChosen = 1_000;

/** The people of a campaign, by the outcome in the query. */
export function CampaignPeople({ id, query }: ViewProps) {
  const filters = filtersIn(query, { outcome: { label: "Outcome", options: outcomes } });
  const { outcome } = filters.values;
  const campaign = useLoad(async () => api().getCampaign({ params: { id } }), [id]);
  const pages = usePages(
    async (page) => api().listCampaignRecipients({ params: { id }, query: { ...page, outcome } }),
    [id, outcome],
  );
  return (
    <Page
      title="People of the campaign"
      back={[`#/campaigns/${id}`, campaign.data?.name ?? "Campaign"]}
      actions={
        <>
          <ExportButton body={{ campaignRecipients: { campaignId: id, outcome } }} />
          {outcome === "failed" && campaign.data !== undefined ? (
            <SendAgain campaign={campaign.data} pages={pages} />
          ) : null}
        </>
      }
    >
      <div class="panel">
        <FilterForm {...filters} />
        <Loaded load={campaign}>
          {() => (
            <PagedTable
              caption="People of the campaign"
              pages={pages}
              keyOf={(row) => row.messageId ?? row.contactId ?? `${row.number} ${row.reason}`}
              columns={{
                Number: ({ number, messageId }) => {
                  const text = number === undefined ? "Deleted contact" : numberText(number);
                  return messageId === undefined ? text : <a href={`#/messages/${messageId}`}>{text}</a>;
                },
                Name: ({ name, contactId }) =>
                  contactId === undefined ? null : (
                    <Clamped href={`#/contacts/${contactId}`}>{name ?? "Contact"}</Clamped>
                  ),
                Status: ({ status }) => <Status of={status} />,
                Reason: ({ reason }) => (reason === undefined ? null : <code>{reason}</code>),
                Reply: ({ reply }) => (reply === undefined ? null : <Clamped>{reply}</Clamped>),
              }}
              empty={{ title: "No people with this outcome" }}
            />
          )}
        </Loaded>
      </div>
    </Page>
  );
}

/** Creates a draft with the same content for the contacts of these people. */
function SendAgain({ campaign, pages }: { campaign: Campaign; pages: Pages<CampaignRecipient> }) {
  const { name, message, senderId, from, language, messageType, expiresInSeconds } = campaign;
  const act = async (): Promise<void> => {
    const people: CampaignRecipient[] = [];
    for await (const row of pages.everyRow()) people.push(row);
    const contactIds = [...new Set(people.flatMap(({ contactId }) => contactId ?? []))];
    if (contactIds.length === 0 || contactIds.length > maxChosen) {
      throw new Error(`A draft has 1 to ${maxChosen} contacts, and these are ${contactIds.length}.`);
    }
    const sender = from === undefined ? { senderId } : { from };
    const body = { message, ...sender, language, messageType, expiresInSeconds, audience: { contactIds } };
    const draft = await api().createCampaign({ body: { ...body, name: `${name} (again)`.slice(0, 100) } });
    go(`campaigns/${draft.id}`);
    announce(`Draft for ${countText(contactIds.length)} of ${countText(people.length, "contact")} created.`);
  };
  return (
    <ConfirmButton
      look="primary"
      label="Send again"
      question="Send again to those who failed?"
      consequence="This creates a draft for their contacts. Nothing is sent until you launch it."
      act={act}
    />
  );
}
