import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import * as z from "zod/mini";

/** A secret with its present value and the one before, by the ids of their versions. */
const KeptSecret = z.object({ current: z.string(), versions: z.record(z.string(), z.string()) });
const KeptSecrets = z.record(z.string(), KeptSecret);

const Create = z.object({
  Name: z.string(),
  SecretString: z.string(),
  ClientRequestToken: z.optional(z.string()),
});
const Put = z.extend(z.omit(Create, { Name: true }), { SecretId: z.string() });
const Get = z.object({ SecretId: z.string(), VersionId: z.optional(z.string()) });

/** What Secrets Manager answers, or the name of its error. */
type Answer =
  | { readonly answer: Record<string, unknown> }
  | { readonly error: "InvalidRequestException" | "ResourceExistsException" | "ResourceNotFoundException" };

/**
 * Secrets Manager, as far as functions and the operator's commands use it: what the stack generated, and what operators
 * keep in it, which stays with the data.
 */
export class LocalSecrets {
  readonly #file: string | undefined;
  readonly #generated = new Map<string, string>();
  readonly #kept: Map<string, z.infer<typeof KeptSecret>>;

  private constructor(file: string | undefined, kept: z.infer<typeof KeptSecrets>) {
    this.#file = file;
    this.#kept = new Map(Object.entries(kept));
  }

  /** @param dataFolder without it nothing stays */
  static async open(dataFolder: string | undefined): Promise<LocalSecrets> {
    const file = dataFolder === undefined ? undefined : path.join(dataFolder, "operator-secrets.json");
    return new LocalSecrets(file, file === undefined ? {} : await read(file));
  }

  /** Keeps what the stack would generate. */
  generate(arn: string, value: string): void {
    this.#generated.set(arn, value);
  }

  /** @param operation for example `GetSecretValue` */
  async answer(operation: string, body: unknown): Promise<Answer> {
    switch (operation) {
      case "CreateSecret": {
        const { Name, SecretString, ClientRequestToken } = Create.parse(body);
        if (this.#kept.has(Name)) return { error: "ResourceExistsException" };
        return this.#write(Name, SecretString, ClientRequestToken);
      }
      case "PutSecretValue": {
        const { SecretId, SecretString, ClientRequestToken } = Put.parse(body);
        if (!this.#kept.has(SecretId)) return { error: "ResourceNotFoundException" };
        return this.#write(SecretId, SecretString, ClientRequestToken);
      }
      case "GetSecretValue":
        return this.#value(Get.parse(body));
      case "DeleteSecret": {
        const { SecretId } = Get.parse(body);
        if (!this.#kept.delete(SecretId)) return { error: "ResourceNotFoundException" };
        await this.#save();
        return { answer: { Name: SecretId } };
      }
      default:
        return { error: "InvalidRequestException" };
    }
  }

  async #write(name: string, value: string, version: string = randomUUID()): Promise<Answer> {
    const before = this.#kept.get(name);
    const previous = before === undefined ? {} : { [before.current]: before.versions[before.current] ?? "" };
    this.#kept.set(name, { current: version, versions: { ...previous, [version]: value } });
    await this.#save();
    return { answer: { Name: name, VersionId: version } };
  }

  #value({ SecretId, VersionId }: z.infer<typeof Get>): Answer {
    const generated = this.#generated.get(SecretId);
    if (generated !== undefined) return { answer: { ARN: SecretId, SecretString: generated } };
    const kept = this.#kept.get(SecretId);
    const SecretString = kept?.versions[VersionId ?? kept.current];
    return SecretString === undefined
      ? { error: "ResourceNotFoundException" }
      : { answer: { Name: SecretId, VersionId: VersionId ?? kept?.current, SecretString } };
  }

  async #save(): Promise<void> {
    if (this.#file === undefined) return;
    await writeFile(this.#file, JSON.stringify(Object.fromEntries(this.#kept), null, 2), { mode: 0o600 });
  }
}

async function read(file: string): Promise<z.infer<typeof KeptSecrets>> {
  let content: string;
  try {
    content = await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
  return KeptSecrets.parse(JSON.parse(content));
}
