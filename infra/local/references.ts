import * as z from "zod/mini";

import { localRegion } from "./connections.ts";

export const localAccountId = "000000000000";

export const Template = z.object({
  Resources: z.record(
    z.string(),
    z.object({ Type: z.string(), Properties: z._default(z.record(z.string(), z.unknown()), {}) }),
  ),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Description: z.optional(z.string()) })),
});
export type Template = z.infer<typeof Template>;

/** An alias or, without a name, a version. */
const Qualifier = z.object({ FunctionName: z.string(), Name: z.optional(z.string()) });

export interface LocalUrls {
  readonly aws: string;
  readonly api: string;
}

/** Returns a function that resolves the references in a part of the template. */
export function resolver(template: Template, urls: LocalUrls): (value: unknown) => unknown {
  const typeOf = (logicalId: string): string => template.Resources[logicalId]?.Type ?? "";
  const attribute = (logicalId: string, name: string): string => {
    if (name === "Arn") return arnOf(typeOf(logicalId), logicalId);
    return name === "ApiEndpoint" ? urls.api : logicalId;
  };
  const reference = (name: string): string => {
    if (name.startsWith("AWS::")) return pseudoParameter(name);
    switch (typeOf(name)) {
      case "AWS::SQS::Queue":
        return `${urls.aws}/${localAccountId}/${name}`;
      case "AWS::SecretsManager::Secret":
        return arnOf(typeOf(name), name);
      case "AWS::Lambda::Alias":
      case "AWS::Lambda::Version": {
        const properties = resolve(template.Resources[name]?.Properties);
        const { FunctionName, Name = name } = Qualifier.parse(properties);
        return `${arnOf("AWS::Lambda::Function", functionIn(FunctionName))}:${Name}`;
      }
      default:
        return name;
    }
  };

  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    const [only, ...others] = entries;
    if (only !== undefined && others.length === 0) {
      const [name, argument] = only;
      if (name === "Ref") return reference(String(argument));
      if (name.startsWith("Fn::")) return intrinsic(name, resolve(argument));
    }
    return Object.fromEntries(entries.map(([name, part]) => [name, resolve(part)]));
  };
  const intrinsic = (name: string, argument: unknown): string | string[] => {
    if (name === "Fn::GetAtt") return attribute(...z.tuple([z.string(), z.string()]).parse(argument));
    if (name === "Fn::Join") {
      const [separator, parts] = z.tuple([z.string(), z.array(z.string())]).parse(argument);
      return parts.join(separator);
    }
    if (name === "Fn::Select") {
      const [index, parts] = z.tuple([z.coerce.number(), z.array(z.string())]).parse(argument);
      return z.string().parse(parts[index]);
    }
    if (name === "Fn::Split") {
      const [separator, text] = z.tuple([z.string(), z.string()]).parse(argument);
      return text.split(separator);
    }
    if (name === "Fn::Sub") {
      return z
        .string()
        .parse(argument)
        .replace(/\$\{([^}]+)\}/g, (_, parameter: string) => reference(parameter));
    }
    throw new Error(`the local gateway does not support ${name}`);
  };
  return resolve;
}

export function arnOf(type: string, logicalId: string): string {
  const service = type.split("::")[1]?.toLowerCase();
  const kinds: Readonly<Record<string, string>> = {
    "AWS::DynamoDB::GlobalTable": "table/",
    "AWS::KMS::Key": "key/",
    "AWS::Lambda::Function": "function:",
  };
  const kind = kinds[type] ?? "";
  if (type === "AWS::S3::Bucket") return `arn:aws:s3:::${logicalId}`;
  return `arn:aws:${service}:${localRegion}:${localAccountId}:${kind}${logicalId}`;
}

/** Returns the name of a function from its name or ARN, with or without an alias or version. */
export function functionIn(reference: string): string {
  return reference.replace(/^arn:.*?:function:/, "").replace(/:.*/, "");
}

function pseudoParameter(name: string): string {
  const value = {
    "AWS::AccountId": localAccountId,
    "AWS::Partition": "aws",
    "AWS::Region": localRegion,
    "AWS::StackId": "stack",
    "AWS::URLSuffix": "amazonaws.com",
  }[name];
  if (value === undefined) throw new Error(`the local gateway does not support ${name}`);
  return value;
}
