import { minuteMs, now } from "../clock.ts";

/** A secret that was replaced is out of use after this. */
const maxAgeMs = 5 * minuteMs;

/** A secret of Secrets Manager: a random string that is long enough to sign with. */
export class Secret {
  readonly #id: () => string;
  #loaded: { readonly value: Promise<string>; readonly atMs: number } | undefined;

  constructor(id: () => string) {
    this.#id = id;
  }

  /**
   * Its value, loaded when it is not there or too old; a failed load is tried again at the next use.
   * @throws Error when it is not there, or shorter than 32 characters
   */
  async value(): Promise<string> {
    const atMs = now().getTime();
    if (this.#loaded === undefined || atMs - this.#loaded.atMs > maxAgeMs) {
      this.#loaded = { value: load(this.#id()), atMs };
    }
    try {
      return await this.#loaded.value;
    } catch (error) {
      this.#loaded = undefined;
      throw error;
    }
  }
}

async function load(id: string): Promise<string> {
  const { readSecretText } = await import("../aws/read-secret.ts");
  const text = await readSecretText({ SecretId: id });
  if (text.length < 32) throw new Error(`the secret ${id} must be a string of at least 32 characters`);
  return text;
}
