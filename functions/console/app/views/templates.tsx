import type { JSX } from "preact";

import { api } from "../api.ts";
import { Empty } from "../parts/empty.tsx";
import { usePages } from "../parts/load.tsx";
import { Page, Section } from "../parts/page.tsx";
import { PagedTable } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";

/** Texts to use again. */
export function Templates(): JSX.Element {
  const templates = usePages(async (query) => api().listTemplates({ query }), []);
  const add = (
    <a class="button primary" href="#/templates/new">
      New template
    </a>
  );
  return (
    <Page title="Templates" lead="Texts to use again, with places for names and codes." actions={add}>
      <Section title="Templates">
        <PagedTable
          caption="Templates, newest first"
          pages={templates}
          keyOf={({ id }) => id}
          columns={[
            {
              title: "Name",
              show: ({ id, name }) => (
                <a class="clamp" dir="auto" href={`#/templates/${id}`}>
                  {name}
                </a>
              ),
            },
            {
              title: "Text",
              show: ({ body }) => (
                <span class="clamp" dir="auto">
                  {body}
                </span>
              ),
            },
            { title: "Changed", show: ({ updatedAt }) => <Time at={updatedAt} /> },
          ]}
          empty={
            <Empty title="No templates yet">
              <p>
                A text such as “Your code is {"{{code}}"}” is written once and sent with another code each
                time.
              </p>
              {add}
            </Empty>
          }
        />
      </Section>
    </Page>
  );
}
