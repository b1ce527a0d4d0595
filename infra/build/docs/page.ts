/** A page of the documentation. */
export interface Page {
  /** The address after `/docs/`; empty for the start page. */
  readonly path: string;
  /** The place in the navigation. */
  readonly section: string;
  readonly title: string;
  /** One sentence, as plain text. */
  readonly description: string;
  /** The content as Markdown, with the title as its heading. */
  readonly markdown: string;
  /** The samples, which Markdown has at the end and HTML beside the content. */
  readonly samples?: readonly { readonly lang: string; readonly label: string; readonly source: string }[];
  /** HTML beside the content, after the samples. */
  readonly aside?: string;
  readonly method?: string;
}

/** Returns JSON in a code block. */
export function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}

/** Returns a table of Markdown. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

/** Removes the marks of Markdown from a sentence. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .replaceAll(/[`*\\]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
