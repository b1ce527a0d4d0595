import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

import { ifMissing, parsedData, replaceData } from "./data-folder.ts";
import type { StackDefinition } from "./template.ts";

/** A secret with its current and its previous value, by the ids of their versions. */
const OperatorSecret = z.object({ current: z.string(), versions: z.record(z.string(), z.string()) });
const OperatorSecrets = z.record(z.string(), OperatorSecret);
const GeneratedSecrets = z.record(z.string(), z.string());

const Create = z.object({
  Name: z.string(),
  SecretString: z.string(),
  ClientRequestToken: z.optional(z.string()),
});
const Put = z.extend(z.omit(Create, { Name: true }), { SecretId: z.string() });
const Get = z.object({ SecretId: z.string(), VersionId: z.optional(z.string()) });

const generatedFile = "secrets.json";
const operatorFile = "operator-secrets.json";

/** The output of Secrets Manager, or the name of its error. */
type SecretResult =
  | { readonly output: Record<string, unknown> }
  | { readonly error: "InvalidRequestException" | "ResourceExistsException" | "ResourceNotFoundException" };

/**
 * The part of Secrets Manager that functions and the operator's commands use. It has the secrets that the stack generates,
 * and those that operators store.
 */
export class LocalSecrets {
  readonly #folder: string | undefined;
  #generated: ReadonlyMap<string, string>;
  readonly #kept: Map<string, z.infer<typeof OperatorSecret>>;

  private constructor(
    folder: string | undefined,
    generated: z.infer<typeof GeneratedSecrets>,
    kept: z.infer<typeof OperatorSecrets>,
  ) {
    this.#folder = folder;
    this.#generated = new Map(Object.entries(generated));
    this.#kept = new Map(Object.entries(kept));
  }

  /** @param folder where secrets stay between runs; without it they end with the process */
  static async open(folder: string | undefined): Promise<LocalSecrets> {
    return new LocalSecrets(
      folder,
      await read(folder, generatedFile, GeneratedSecrets),
      await read(folder, operatorFile, OperatorSecrets),
    );
  }

  /** Generates the secrets and signing keys of a stack, except those that an earlier run has generated. */
  async generate({
    secrets,
    signingKeyIds,
  }: Pick<StackDefinition, "secrets" | "signingKeyIds">): Promise<void> {
    const known = this.#generated;
    this.#generated = new Map([
      ...secrets.map(({ arn, length }) => [arn, known.get(arn) ?? newSecret(length)] as const),
      ...signingKeyIds.map((id) => [id, known.get(id) ?? newSigningKey()] as const),
    ]);
    this.#write(generatedFile, this.#generated);
  }

  /** Returns a generated secret by its ARN, or a private key by its id. */
  generated(id: string): string {
    return this.#generated.get(id) ?? "";
  }

  /** @param operation for example `GetSecretValue` */
  async execute(operation: string, body: unknown): Promise<SecretResult> {
    switch (operation) {
      case "CreateSecret": {
        const { Name, SecretString, ClientRequestToken } = Create.parse(body);
        if (this.#kept.has(Name)) return { error: "ResourceExistsException" };
        return this.#put(Name, SecretString, ClientRequestToken);
      }
      case "PutSecretValue": {
        const { SecretId, SecretString, ClientRequestToken } = Put.parse(body);
        if (!this.#kept.has(SecretId)) return { error: "ResourceNotFoundException" };
        return this.#put(SecretId, SecretString, ClientRequestToken);
      }
      case "GetSecretValue":
        return this.#value(Get.parse(body));
      case "DeleteSecret": {
        const { SecretId } = Get.parse(body);
        if (!this.#kept.delete(SecretId)) return { error: "ResourceNotFoundException" };
        this.#save();
        return { output: { Name: SecretId } };
      }
      default:
        return { error: "InvalidRequestException" };
    }
  }

  async #put(name: string, value: string, version: string = randomUUID()): Promise<SecretResult> {
    const before = this.#kept.get(name);
    const previous = before === undefined ? {} : { [before.current]: before.versions[before.current] ?? "" };
    this.#kept.set(name, { current: version, versions: { ...previous, [version]: value } });
    this.#save();
    return { output: { Name: name, VersionId: version } };
  }

  #value({ SecretId, VersionId }: z.infer<typeof Get>): SecretResult {
    const generated = this.#generated.get(SecretId);
    if (generated !== undefined) return { output: { ARN: SecretId, SecretString: generated } };
    const kept = this.#kept.get(SecretId);
    const SecretString = kept?.versions[VersionId ?? kept.current];
    return SecretString === undefined
      ? { error: "ResourceNotFoundException" }
      : { output: { Name: SecretId, VersionId: VersionId ?? kept?.current, SecretString } };
  }

  #save(): void {
    this.#write(operatorFile, this.#kept);
  }

  #write(file: string, secrets: ReadonlyMap<string, unknown>): void {
    if (this.#folder === undefined) return;
    const content = JSON.stringify(Object.fromEntries(secrets), null, 2);
    replaceData(path.join(this.#folder, file), content);
  }
}

/** Reads a file of secrets; one that does not exist has none. */
async function read<Content>(
  folder: string | undefined,
  file: string,
  schema: z.ZodMiniType<Content>,
): Promise<Content> {
  if (folder === undefined) return schema.parse({});
  const content = await readFile(path.join(folder, file), "utf8").catch(ifMissing("{}"));
  return schema.parse(parsedData(content, path.join(folder, file)));
}

function newSecret(length: number): string {
  return randomBytes(length).toString("hex").slice(0, length);
}

/** Generates a private key on the curve P-256 as PEM. */
function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}
