import { escapeHtml } from "../../platform/html.ts";
import { brand, brandLinks } from "../brand/brand.ts";

/** The content of an email: a subject, paragraphs of plain text, and a link. */
export interface EmailText {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** The link, shown as a button and as an address to copy. */
  readonly link?: { readonly label: string; readonly url: string };
  /** The paragraph after the link. */
  readonly closing: string;
}

/** An email as it goes out. */
export interface OutgoingEmail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Lays out an email, as plain text and as HTML. */
export function layOut(to: string, { subject, paragraphs, link, closing }: EmailText): OutgoingEmail {
  const text = [...paragraphs, ...(link === undefined ? [] : [`${link.label}:\n${link.url}`]), closing];
  const paragraph = (content: string): string => `<p>${content}</p>`;
  const linked = (url: string, label: string): string =>
    `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`;
  const html = [
    ...paragraphs.map((each) => paragraph(escapeHtml(each))),
    ...(link === undefined
      ? []
      : [
          paragraph(linked(link.url, link.label)),
          paragraph(`Or open this address:<br>${escapeHtml(link.url)}`),
        ]),
    paragraph(escapeHtml(closing)),
  ];
  return {
    to,
    subject: onOneLine(subject),
    text: `${text.join("\n\n")}\n`,
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(onOneLine(subject))}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em">
<p style="font-weight: bold; color: ${brand().colors.light}">${escapeHtml(brand().name)}</p>
${html.join("\n")}
<p style="color: #505d57; font-size: 0.9em">${brandLinks()}</p>
</body>
</html>
`,
  };
}

/** Puts a customer's text on one line, without line breaks and invisible characters. */
export function onOneLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
}
