import { segmentsOf } from "../../../../shared/messages/message/segments.ts";
import type { Field } from "./form-state.ts";
import { SelectField } from "./form.tsx";
import { countText } from "./money.tsx";

/** The characters, encoding and billed segments of a text. */
export function SegmentCount({ text, isUnicode = false }: { text: string; isUnicode?: boolean }) {
  const { encoding, segments } = segmentsOf(text, { unicode: isUnicode });
  return (
    <span>
      {countText(Array.from(text).length, "character")}, {encoding},{" "}
      <strong>{text === "" ? "0 segments" : countText(segments, "segment")}</strong>
    </span>
  );
}

export function Preview({ sender, text }: { sender: string; text: string }) {
  return (
    <figure class="preview">
      <figcaption>{sender === "" ? "Your sender ID" : sender}</figcaption>
      {/* The text has its own direction. */}
      <p dir="auto">{text === "" ? "Your message appears here." : text}</p>
    </figure>
  );
}

const messageTypes = [
  ["", "Not specified"],
  ["transactional", "Transactional: order or appointment updates"],
  ["otp", "One-time code"],
  ["marketing", "Marketing: not sent to people who opted out"],
] as const;

/** The type of a message, which people need not choose. */
export function MessageTypeField({ field }: { field: Field<string> }) {
  return <SelectField field={field} label="Type" options={messageTypes} />;
}
