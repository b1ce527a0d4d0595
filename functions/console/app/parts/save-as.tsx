import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { fileKinds, type FileKind } from "../save-file.ts";
import { useAction } from "./dialog.tsx";
import { fieldOf } from "./form-state.ts";
import { SelectField } from "./form.tsx";
import { Problem } from "./notice.tsx";

/** The choice of a kind of file, and a button that saves it. @param isBegun whether the file is saved immediately */
export function SaveAs({
  save,
  kinds = ["xlsx", "csv", "semicolons"],
  isBegun = false,
}: {
  save: (kind: FileKind) => Promise<void>;
  kinds?: readonly FileKind[];
  isBegun?: boolean;
}) {
  const kind = useSignal<string>(kinds[0] ?? "csv");
  const { run, isBusy, error } = useAction(async () =>
    save(kinds.find((each) => each === kind.value) ?? "csv"),
  );
  useEffect(() => {
    if (isBegun) run();
  }, []);
  return (
    <>
      {error === undefined ? null : <Problem error={error} />}
      <div class="row">
        <SelectField
          field={fieldOf("kind", kind)}
          label="Save as"
          options={kinds.map((each) => [each, fileKinds[each]])}
        />
        <button type="button" aria-disabled={isBusy} onClick={run}>
          {isBusy ? "Please wait…" : "Save"}
        </button>
      </div>
    </>
  );
}
