import { api } from "../api.ts";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { countText, Money } from "../parts/money.tsx";
import { LinkButton } from "../parts/page.tsx";
import { Status } from "../parts/status.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

export function Campaigns() {
  const campaigns = usePages(async (query) => api().listCampaigns({ query }), []);
  const add = <LinkButton href="#/campaigns/new" label="New campaign" look="primary" />;
  return (
    <ListView
      title="Campaigns"
      lead="Send one message to many contacts."
      actions={add}
      pages={campaigns}
      columns={{
        Name: ({ id, name }) => <Clamped href={`#/campaigns/${id}`}>{name}</Clamped>,
        Status: ({ status }) => <Status of={status} />,
        Messages: { number: ({ progress }) => countText(progress.accepted) },
        Sent: { number: ({ progress }) => countText(progress.sent) },
        Failed: { number: ({ progress }) => countText(progress.failed) },
        Charged: { number: ({ progress }) => <Money amount={progress.charged} isShort /> },
        Created: ({ createdAt }) => <Time at={createdAt} />,
      }}
      empty={{
        title: "No campaigns yet",
        hint: "You can review the audience and cost before anything is sent.",
        action: add,
      }}
    />
  );
}
