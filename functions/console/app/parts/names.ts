import { everyRow } from "../../../../shared/api/client/client.ts";
import { api } from "../api.ts";
import { may } from "../rights.ts";
import { useLoad } from "./load.tsx";

/** Reads the members, and the API keys if the person may list them. @returns the name of an id, if it has one */
export function useNames(): (id: string) => string | undefined {
  const { data } = useLoad(async () => {
    const names = new Map<string, string>();
    for (const { id, email } of (await api().listMembers({ query: { limit: 100 } })).rows)
      names.set(id, email);
    const keys = everyRow(async (next) => api().listApiKeys({ query: { limit: 100, ...next } }));
    if (may("keys")) for await (const { id, name, hint } of keys) names.set(id, name ?? hint);
    return names;
  }, []);
  return (id) => data?.get(id);
}
