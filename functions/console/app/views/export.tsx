import type { Export as ExportOf, ExportedList } from "../../../../shared/api/contract/exports.ts";
import { withoutGuard } from "../../../../shared/figures/exports/csv.ts";
import { api } from "../api.ts";
import { filesOf } from "../export-files.ts";
import { takeBegun } from "../parts/export.tsx";
import { Loaded, useLoad, usePolling, Waiting } from "../parts/load.tsx";
import { countText } from "../parts/money.tsx";
import { announce, Notice } from "../parts/notice.tsx";
import { Page } from "../parts/page.tsx";
import { SaveAs } from "../parts/save-as.tsx";
import { Time } from "../parts/time.tsx";
import { parseCsv } from "../read-table.ts";
import { linkBack, type ViewProps } from "../router.ts";
import { saveFile, saveTable, type FileKind } from "../save-file.ts";

const lists: Readonly<Record<ExportedList, readonly [view: string, name: string]>> = {
  messages: ["messages", "Messages"],
  contacts: ["contacts", "Contacts"],
  transactions: ["wallet", "Ledger"],
  campaignRecipients: ["campaigns", "Campaigns"],
};

/** The progress of an export, and its file, which the email leads to. */
export function Export({ id }: ViewProps) {
  const load = useLoad(async () => api().getExport({ params: { id } }), [id]);
  const shown = load.data;
  usePolling(shown?.status === "running", load.reload, 1_000);
  const [view, name] = lists[shown?.list ?? "messages"];
  return (
    <Page title="Export" lead={name} back={[linkBack(view), name]}>
      <div class="panel">
        <Loaded load={load}>{(each) => <State of={each} />}</Loaded>
      </div>
    </Page>
  );
}

function State({ of }: { of: ExportOf }) {
  const { status, rows } = of;
  if (status === "failed") {
    return (
      <Notice tone="bad">
        The export failed: it has more than 10,000,000 rows or 1,000 columns, or meanwhile the list was
        deleted or your organization suspended. Filter the list, and export it again.
      </Notice>
    );
  }
  if (status === "running") {
    return (
      <>
        <Waiting what={`${countText(rows, "row")} exported…`} />
        <p class="muted">
          You can close this page. If your email is verified, you get a link to it when the file is ready.
        </p>
      </>
    );
  }
  return <Ready of={of} />;
}

/** More rows are saved as the gateway has written them, because the browser would need too much memory for others. */
const maxConvertedRows = 100_000;

/** The file, which is saved immediately if this page began the export. */
function Ready({ of }: { of: ExportOf }) {
  return (
    <>
      <p>{countText(of.rows, "row")} exported.</p>
      <SaveAs
        save={async (kind) => save(of, kind)}
        kinds={of.rows > maxConvertedRows ? ["csv"] : ["xlsx", "csv", "semicolons"]}
        isBegun={takeBegun(of.id)}
      />
      <p class="muted">
        The file is deleted <Time at={of.expiresAt} />.
      </p>
    </>
  );
}

/** A spreadsheet shows at most 1,048,576 rows, and a browser has too little memory for much more. */
const rowsOfFile = 1_000_000;

/** Reads the parts of an export, and lets the browser save them as one file, or several if it is large. */
async function save({ id, list, parts, rows }: ExportOf, kind: FileKind): Promise<void> {
  let count = 0;
  for await (const texts of filesOf(readParts(id, parts), rowsOfFile)) {
    count += 1;
    if (rows > maxConvertedRows) {
      const name = rows > rowsOfFile ? `${list}-${count}` : list;
      saveFile(`${name}.csv`, new Blob(["\uFEFF", ...texts]));
    } else {
      const table = parseCsv(texts.join("")).map((cells) => cells.map(withoutGuard));
      await saveTable(list, table, kind);
    }
  }
  announce(`${countText(rows, "row")} saved${count > 1 ? ` in ${count} files` : ""}.`);
}

async function* readParts(id: string, parts: number): AsyncGenerator<string> {
  for (let part = 1; part <= parts; part += 1) {
    yield (await api().getExportPart({ params: { id, part: String(part) } })).csv;
  }
}
