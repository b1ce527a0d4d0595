import { minuteMs } from "../clock.ts";
import { TtlCache } from "../ttl-cache.ts";

/** A replaced secret is not used for longer than this. */
const maxAgeMs = 5 * minuteMs;

/** A secret of Secrets Manager: a random string that is long enough to sign with. */
export class Secret {
  readonly #id: () => string;
  readonly #cache = new TtlCache<string>({ ttlMs: maxAgeMs });

  constructor(id: () => string) {
    this.#id = id;
  }

  /**
   * Returns its value, and loads it when it is missing or too old. The next use repeats a failed load.
   * @throws Error when it is not there, or shorter than 32 characters
   */
  async value(): Promise<string> {
    return this.#cache.read(async () => load(this.#id()));
  }
}

async function load(id: string): Promise<string> {
  const { readSecretText } = await import("../aws/read-secret.ts");
  const text = await readSecretText({ SecretId: id });
  if (text.length < 32) throw new Error(`the secret ${id} must be a string of at least 32 characters`);
  return text;
}
