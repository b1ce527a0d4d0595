import { errorTable, failureTable, sandboxNumberTable } from "../../../shared/api/openapi/introduction.ts";

/** The tables of pages that follow from the contract. */
export const pageTables = [
  { page: "shared/api/contract/README.md", name: "errors", table: errorTable() },
  { page: "shared/api/contract/README.md", name: "failures", table: failureTable() },
  { page: "shared/carriers/README.md", name: "sandbox-numbers", table: sandboxNumberTable() },
] as const;

/** Returns a pattern for a table in a page, where it stands between two comments with its name. */
export function tablePattern(name: string): RegExp {
  return new RegExp(`(?<=<!-- ${name} -->\\n\\n).*?(?=\\n\\n<!-- /${name} -->)`, "s");
}
