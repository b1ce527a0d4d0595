import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";

/*
 * The commands of `@aws-sdk/lib-dynamodb` have plain values where DynamoDB has attributes that name their types. The key nodes
 * of a command state where. No node or null is a value. An empty node has a value in each member, and `*` is the node of all
 * members. All other names are members.
 */

interface Nodes {
  readonly [name: string]: Nodes | null;
}

export interface DocumentConversions {
  /** The command of the underlying client. */
  readonly clientCommand: object;
  readonly toAttributes: (input: object) => object;
  readonly fromAttributes: (output: object) => object;
}

/** Without `convertClassInstanceToMap`, only objects of the constructor `Object` are maps. Customers choose attribute names. */
const marshallOptions = {
  removeUndefinedValues: true,
  convertClassInstanceToMap: true,
  convertTopLevelContainer: true,
} as const;

/** Returns the conversions of a document command's input and output; undefined for any other command. */
export function documentConversions(command: object): DocumentConversions | undefined {
  // The SDK's types keep these for its own client.
  const clientCommand: unknown = Reflect.get(command, "clientCommand");
  if (typeof clientCommand !== "object" || clientCommand === null) return undefined;
  const inputNodes: Nodes = Object(Reflect.get(command, "inputKeyNodes"));
  const outputNodes: Nodes = Object(Reflect.get(command, "outputKeyNodes"));
  return {
    clientCommand,
    toAttributes: (input) => Object(converted(input, inputNodes, toAttribute)),
    fromAttributes: (output) => Object(converted(output, outputNodes, fromAttribute)),
  };
}

const toAttribute = (value: unknown): unknown => marshall(value, marshallOptions);
const fromAttribute = (value: unknown): unknown =>
  unmarshall(Object(value), { convertWithoutMapWrapper: true });

type Convert = (value: unknown) => unknown;

function converted(value: unknown, nodes: Nodes | null | undefined, convert: Convert): unknown {
  if (value === undefined) return undefined;
  if (nodes === null || nodes === undefined) return convert(value);
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(nodes);
  const isSame = names.length === 0 || (names.length === 1 && names[0] === "*");
  if (isSame) return mapped(value, (member) => converted(member, nodes["*"], convert));
  const changed: Record<string, unknown> = { ...value };
  for (const name of names) {
    if (changed[name] !== undefined) changed[name] = converted(changed[name], nodes[name], convert);
  }
  return changed;
}

function mapped(value: object, convert: Convert): unknown {
  if (Array.isArray(value)) return value.map(convert);
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const found = convert(member);
    if (found !== undefined) entries.push([name, found]);
  }
  // Unlike an assignment, this keeps a member that is called `__proto__`.
  return Object.fromEntries(entries);
}
