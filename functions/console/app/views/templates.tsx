import { api } from "../api.ts";
import { ListView } from "../parts/list-view.tsx";
import { usePages } from "../parts/load.tsx";
import { LinkButton } from "../parts/page.tsx";
import { Clamped } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

export function Templates() {
  const templates = usePages(async (query) => api().listTemplates({ query }), []);
  const add = <LinkButton href="#/templates/new" label="New template" look="primary" />;
  return (
    <ListView
      title="Templates"
      lead="Reusable texts with placeholders for names and codes."
      actions={add}
      pages={templates}
      columns={{
        Name: ({ id, name }) => <Clamped href={`#/templates/${id}`}>{name}</Clamped>,
        Text: ({ body }) => <Clamped>{body}</Clamped>,
        Updated: ({ updatedAt }) => <Time at={updatedAt} />,
      }}
      empty={{
        title: "No templates yet",
        hint: "Write a text such as “Your code is {{code}}” once and reuse it with new values.",
        action: add,
      }}
    />
  );
}
