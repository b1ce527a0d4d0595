// oxlint-disable-next-line import/no-unassigned-import
import "../without-eval.ts";
import type { Desk, DeskPage, Panel, Row } from "@sms-gateway/operator/desk/protocol.ts";
import { render, type JSX } from "preact";
import { useState } from "preact/hooks";

import { FilterForm } from "../parts/filter-form.tsx";
import { Icon } from "../parts/icon.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { here, match } from "../router.ts";
import { CommandMenu, PartsForm, type Values } from "./command.tsx";
import { changes, desk, openDesk, prepared, run, type Prepared } from "./desk.ts";
import { Output } from "./output.tsx";

/** The operator's desk: pages with the output of commands, whose rows and headings offer further commands. */
function App() {
  // A text is the reason why the desk is closed.
  if (typeof desk.value === "string") {
    return (
      <main class="door">
        <h1>The desk is closed</h1>
        <p>{desk.value}</p>
        <p>Start the desk again, and open the link that it prints. A link works once.</p>
      </main>
    );
  }
  const { pages } = desk.value;
  const found = pages.find(({ path }) => match(path, here.value) !== undefined) ?? pages[0];
  const text = here.value.query.get("text")?.trim() ?? "";
  const id = match(found?.path ?? "", here.value) ?? "";
  return (
    <>
      <Navigation {...desk.value} current={found?.path} />
      <main class="view">
        {found && (
          <PageView key={`${here.value.parts.join("/")} ${text}`} page={found} values={{ id, text }} />
        )}
      </main>
    </>
  );
}

function Navigation({ stage, identity, pages, current }: Desk & { current: string | undefined }) {
  return (
    <header class="navigation">
      <div class="brand">
        <a href="#/">Desk of {stage}</a>
      </div>
      <nav aria-label="Main">
        <ul>
          {pages.map(({ path, title, icon }) =>
            icon === undefined ? null : (
              <li key={path}>
                <a href={`#/${path}`} aria-current={path === current ? "page" : undefined}>
                  <Icon of={icon} />
                  {title}
                </a>
              </li>
            ),
          )}
        </ul>
      </nav>
      <p class="account break">Changes are recorded as {identity}</p>
    </header>
  );
}

const searchFields = {
  text: { label: "Number, email, name or ID", type: "search", hasFocus: true },
} as const;

function PageView({
  page,
  values,
}: {
  page: DeskPage;
  values: { readonly id: string; readonly text: string };
}) {
  const { title, look, actions = [], panels } = page;
  const { id, text } = values;
  const isShown = ({ when = "" }: Panel): boolean =>
    look !== "search" || (text !== "" && new RegExp(when).test(text));
  const shown = panels.filter(isShown).flatMap((panel) =>
    // A panel of a command that this release does not have is left out.
    prepared([panel.line], values).map((action): [string, JSX.Element] => [
      panel.title,
      <PanelView key={panel.title} panel={panel} action={action} values={values} />,
    ]),
  );
  return (
    <Page
      title={`${title} ${id}`.trim()}
      actions={<CommandMenu label={`Actions for ${title}`} lines={actions} values={values} />}
    >
      {look === "search" ? (
        <FilterForm fields={searchFields} values={{ text }} view="search" action="Search" />
      ) : null}
      {look === "tabs" ? <Tabs label={title} tabs={shown} /> : shown.map(([, view]) => view)}
    </Page>
  );
}

/** A panel with the output of a command, and a form for the parts of its input that the page leaves open. */
function PanelView({ panel, action, values }: { panel: Panel; action: Prepared; values: Values }) {
  const { title, without = [], actions = [], rowActions = [] } = panel;
  const { command, input: fixed } = action;
  const [input, setInput] = useState(fixed);
  const load = useLoad(async () => {
    const result = await run(command.name, input);
    if (result.state === "done") return result.output;
    throw new Error(result.state === "failed" ? result.problem : result.question);
  }, [input, changes.value]);
  const menuOf = (row: Row) => (
    <CommandMenu label={`Actions for ${Object.values(row).join(" ")}`} lines={rowActions} values={row} />
  );
  return (
    <Section
      title={title}
      actions={<CommandMenu label={`Actions for ${title}`} lines={actions} values={values} />}
    >
      {command.parts.length === Object.keys(fixed).length ? null : (
        <details>
          <summary>Filter</summary>
          <PartsForm of={action} label="Show" act={async (wanted) => setInput(wanted)} />
        </details>
      )}
      <Loaded load={load}>
        {(pieces) => (
          <Output
            pieces={pieces}
            title={title}
            without={without}
            menuOf={prepared(rowActions, {}).length === 0 ? undefined : menuOf}
          />
        )}
      </Loaded>
    </Section>
  );
}

const root = document.querySelector("#console");
if (root !== null) void openDesk().then(() => render(<App />, root));
