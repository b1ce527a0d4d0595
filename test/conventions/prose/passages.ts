import { parseSync, Visitor, type Expression, type JSXElement } from "oxc-parser";

/** A piece of prose in a file, with the position of each of its parts. */
export interface Passage {
  kind: "comment" | "string" | "page" | "heading" | "name";
  text: string;
  /** @returns the offset in the file of a character of `text` */
  offsetOf: (index: number) => number;
}

/** Separates sentences that do not end with a mark, such as the items of a list. */
const lineBreak = "\n\n";

class PassageBuilder {
  readonly #parts: { at: number; offset: number }[] = [];
  #text = "";

  add(text: string, offset: number): void {
    this.#parts.push({ at: this.#text.length, offset });
    this.#text += text;
  }

  build(kind: Passage["kind"]): Passage {
    return {
      kind,
      text: this.#text,
      offsetOf: (index) => {
        const part = this.#parts.findLast(({ at }) => at <= index) ?? { at: 0, offset: 0 };
        return part.offset + index - part.at;
      },
    };
  }
}

const startsItem = /^\s*(?:[-*•]|\d+[.)])\s/;
const startsTag = /^\s*@\w+/;

/** Adds a line of a comment. An empty line, the item of a list, and a tag of JSDoc start a new sentence. */
function addLine(builder: PassageBuilder, line: string, offset: number): void {
  if (line.trim() === "" || startsItem.test(line) || startsTag.test(line)) builder.add(lineBreak, offset);
  const mark = startsItem.exec(line)?.[0] ?? startsTag.exec(line)?.[0] ?? /^\s*/.exec(line)?.[0] ?? "";
  builder.add(`${line.slice(mark.length).trimEnd()} `, offset + mark.length);
}

/** Adds a line of the text of an element, with one space for those at its ends. */
function addMarkup(builder: PassageBuilder, line: string, offset: number): void {
  const indent = /^\s+/.exec(line)?.[0].length ?? 0;
  const [space, end] = [indent > 0 ? " " : "", /\s$/.test(line) ? " " : ""];
  if (line !== "") builder.add(`${space}${line.trim()}${end}`, offset + indent - space.length);
}

/** Yields each line with its offset. */
function* linesOf(text: string, start: number): Generator<[line: string, offset: number]> {
  let offset = start;
  for (const line of text.split("\n")) {
    yield [line, offset];
    offset += line.length + 1;
  }
}

const isDirective = /^\s*(?:\*\s*)?(?:oxlint-|eslint-|@ts-|#__|c8 |v8 |prettier-|\/ <)/;

function blockComment(value: string, start: number): Passage {
  const builder = new PassageBuilder();
  for (const [line, offset] of linesOf(value, start)) {
    const mark = /^\s*\*(?:\s|$)|^\*\s*/.exec(line)?.[0] ?? "";
    addLine(builder, line.slice(mark.length), offset + mark.length);
  }
  return builder.build("comment");
}

/** Reads comments of one line each. Those below one another are one passage. */
function lineComments(source: string, comments: readonly { start: number; value: string }[]): Passage[] {
  const passages: Passage[] = [];
  let builder: PassageBuilder | undefined;
  let end = -1;
  for (const { start, value } of comments) {
    const length = source.indexOf(value, start) - start;
    if (builder === undefined || !/^[ \t]*\r?\n[ \t]*$/.test(source.slice(end, start))) {
      if (builder !== undefined) passages.push(builder.build("comment"));
      builder = new PassageBuilder();
    }
    if (isDirective.test(value)) builder.add(lineBreak, start);
    else addLine(builder, value, start + length);
    end = start + length + value.length;
  }
  if (builder !== undefined) passages.push(builder.build("comment"));
  return passages;
}

/** Recognizes a template that is not prose: classes, expressions of the table, patterns, commands, addresses. */
function isProse(text: string): boolean {
  const tokens = text.trim().split(/\s+/);
  if (
    tokens.length < 2 ||
    /(?:^|[\s(])[:#]\w|attribute_(?:not_)?exists|=>|\(\)|&&|\|\||\\[wdsbWDS(]/.test(text)
  )
    return false;
  const plain = tokens.filter((token) => /^["'“(]*[A-Za-z][a-z'’-]*[.,;:!?)"'”]*$/.test(token));
  return plain.length >= tokens.length / 2;
}

/** Elements that stand within a sentence. All others begin a new one. */
const inline = new Set([
  "a",
  "b",
  "strong",
  "em",
  "i",
  "code",
  "kbd",
  "span",
  "abbr",
  "small",
  "time",
  "Link",
]);
const noProse = new Set(["className", "class", "id", "key", "href", "d", "viewBox", "type", "name", "style"]);

function nameOf(element: JSXElement): string {
  const { name } = element.openingElement;
  return name.type === "JSXIdentifier" ? name.name : "";
}

/** Reads the words of an exported name, such as `drop answer` of `dropAnswer`. */
function exportedName({ value, start }: { value: string; start: number }): Passage {
  const text = value.replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)/g, " ");
  return { kind: "name", text, offsetOf: () => start };
}

/** Reads the comments, strings, templates, JSX and exported names of a file of TypeScript. */
function passagesOfCode(file: string, source: string): Passage[] {
  const { program, comments, module } = parseSync(file, source);
  const lines = comments.filter(({ type }) => type === "Line");
  const blocks = comments.filter(({ type, value }) => type === "Block" && !isDirective.test(value));
  const passages = lineComments(source, lines);
  for (const { value, start } of blocks) passages.push(blockComment(value, start + 2));
  for (const { exportName } of module.staticExports.flatMap(({ entries }) => entries)) {
    const { name: value, start } = exportName;
    if (value !== null && start !== null) passages.push(exportedName({ value, start }));
  }

  const done = new Set<number>();
  const skip = (node: { start: number } | null | undefined): void => {
    if (node) done.add(node.start);
  };
  const finish = (builder: PassageBuilder): void => {
    const passage = builder.build("string");
    if (isProse(passage.text)) passages.push(passage);
  };
  /** Adds what an expression shows: the text of a literal, and one letter for each value that is not known. */
  const addExpression = (builder: PassageBuilder, node: Expression): void => {
    if (node.type === "Literal" && typeof node.value === "string") {
      skip(node);
      builder.add(source.slice(node.start + 1, node.end - 1).replaceAll("\\n", lineBreak), node.start + 1);
    } else if (node.type === "TemplateLiteral") {
      skip(node);
      for (const quasi of node.quasis) {
        const at = source.startsWith("`", quasi.start) || source.startsWith("}", quasi.start) ? 1 : 0;
        builder.add(quasi.value.raw.replaceAll("\\n", lineBreak).replaceAll("\\`", " `"), quasi.start + at);
        if (!quasi.tail) builder.add("X", quasi.end);
      }
    } else if (node.type === "BinaryExpression" && node.operator === "+") {
      done.add(node.start);
      addExpression(builder, node.left);
      addExpression(builder, node.right);
    } else builder.add("X", node.start);
  };
  const addChildren = (builder: PassageBuilder, children: JSXElement["children"]): void => {
    for (const child of children) {
      if (child.type === "JSXText") {
        for (const [line, offset] of linesOf(child.value, child.start)) addMarkup(builder, line, offset);
      } else if (child.type === "JSXExpressionContainer" && child.expression.type !== "JSXEmptyExpression")
        addExpression(builder, child.expression);
      else if (child.type === "JSXElement" && inline.has(nameOf(child))) {
        skip(child);
        if (nameOf(child) === "code") builder.add("X", child.start);
        else addChildren(builder, child.children);
      } else builder.add(lineBreak, child.start);
    }
  };
  const visitExpression = (node: Expression): void => {
    if (done.has(node.start)) return;
    const builder = new PassageBuilder();
    addExpression(builder, node);
    finish(builder);
  };
  const visitElement = (node: Pick<JSXElement, "start" | "children">): void => {
    if (done.has(node.start)) return;
    const builder = new PassageBuilder();
    addChildren(builder, node.children);
    finish(builder);
  };
  new Visitor({
    ImportDeclaration: ({ source: from }) => skip(from),
    ExportNamedDeclaration: ({ source: from }) => skip(from),
    ExportAllDeclaration: ({ source: from }) => skip(from),
    ImportExpression: ({ source: from }) => skip(from),
    TSLiteralType: ({ literal }) => skip(literal),
    JSXAttribute: ({ name, value }) => {
      if (typeof name.name === "string" && noProse.has(name.name)) skip(value);
    },
    TaggedTemplateExpression: ({ quasi }) => skip(quasi),
    JSXElement: visitElement,
    JSXFragment: visitElement,
    BinaryExpression: (node) => {
      if (node.operator === "+") visitExpression(node);
    },
    TemplateLiteral: visitExpression,
    Literal: (node) => {
      if (typeof node.value === "string") visitExpression(node);
    },
  }).visit(program);
  return passages;
}

/** Reads all prose of a file that is no page. */
export function passagesOf(file: string, source: string): Passage[] {
  if (/\.[mc]?[jt]sx?$/.test(file)) return passagesOfCode(file, source);
  if (file.endsWith(".css"))
    return [...source.matchAll(/\/\*([^]*?)\*\//g)].map(({ 1: value = "", index }) =>
      blockComment(value, index + 2),
    );
  const comments = [...source.matchAll(/(?<=^|\s)#(?![!\w])(.*)$/gm)];
  return lineComments(
    source,
    comments.map(({ 1: value = "", index }) => ({ start: index, value })),
  );
}
