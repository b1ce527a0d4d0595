import type { CreateExportRequest } from "../../../../shared/api/contract/exports.ts";
import { api } from "../api.ts";
import { ActionScope } from "../rights.ts";
import { go } from "../router.ts";
import { ActionButton } from "./dialog.tsx";

/** The exports that this page began and has not saved yet. */
const begun = new Set<string>();

/** Returns once whether this page began an export. */
export function takeBegun(id: string): boolean {
  return begun.delete(id);
}

/** A button that exports all rows of a list in the background, and shows the progress. */
export function ExportButton({ body }: { body: CreateExportRequest }) {
  const begin = async (): Promise<void> => {
    const { id } = await api().createExport({ body });
    begun.add(id);
    go(`exports/${id}`);
  };
  return (
    <ActionScope.Provider value="personal">
      <ActionButton label="Export" act={begin} />
    </ActionScope.Provider>
  );
}
