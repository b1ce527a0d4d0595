import { api } from "../api.ts";
import { useLoad } from "./load.tsx";

/** A choice of a template, if there are any. */
export function TemplatePicker({ onPick }: { onPick: (body: string) => void }) {
  const { data: templates = [] } = useLoad(
    async () => (await api().listTemplates({ query: { limit: 100 } })).rows,
    [],
  );
  if (templates.length === 0) return null;
  return (
    <label class="field">
      <span>Use a template (optional)</span>
      <select
        onChange={(event) => {
          const picked = templates.find(({ id }) => id === event.currentTarget.value);
          if (picked !== undefined) onPick(picked.body);
        }}
      >
        <option value="">None</option>
        {templates.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
