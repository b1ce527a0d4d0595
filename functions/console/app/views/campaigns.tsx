import type { JSX } from "preact";

import { api } from "../api.ts";
import { Empty } from "../parts/empty.tsx";
import { usePages } from "../parts/load.tsx";
import { countText, Money } from "../parts/money.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Clamped, PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

export function Campaigns(): JSX.Element {
  const campaigns = usePages(async (query) => api().listCampaigns({ query }), []);
  const add = (
    <a class="button primary" href="#/campaigns/new">
      New campaign
    </a>
  );
  return (
    <Page title="Campaigns" lead="Send one message to many contacts." actions={add}>
      <Section title="Campaigns">
        <PagedTable
          caption="Campaigns, newest first"
          pages={campaigns}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Name",
              show: ({ id, name }) => <Clamped href={`#/campaigns/${id}`}>{name}</Clamped>,
            },
            { title: "Status", show: ({ status }) => <Status of={status} /> },
            { title: "Messages", isNumber: true, show: ({ progress }) => countText(progress.accepted) },
            { title: "Sent", isNumber: true, show: ({ progress }) => countText(progress.sent) },
            { title: "Failed", isNumber: true, show: ({ progress }) => countText(progress.failed) },
            {
              title: "Charged",
              isNumber: true,
              show: ({ progress }) => <Money amount={progress.charged} isShort />,
            },
            { title: "Created", show: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
          empty={
            <Empty title="No campaigns yet">
              <p>You can review the audience and cost before anything is sent.</p>
              {add}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
