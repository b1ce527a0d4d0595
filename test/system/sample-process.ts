import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

/** A process that runs samples one after another, so that it loads the package for customers once. */
export class SampleProcess {
  readonly #child: ReturnType<typeof start>;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: Promise<string>;
  readonly #closed: Promise<unknown>;
  #last: Promise<unknown> = Promise.resolve();

  /** @param runner the file in this folder that reads the names of samples, and writes what they print */
  constructor(program: string, runner: string) {
    this.#child = start(program, path.join(import.meta.dirname, runner));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#errors = text(this.#child.stderr);
    this.#closed = once(this.#child, "close");
  }

  /**
   * Runs a sample, and returns what it prints.
   * @throws Error with what the process wrote when the sample fails, which ends the process
   */
  async run(file: string, environment: Readonly<Record<string, string>>): Promise<string> {
    const ended = this.#last.then(async () => {
      this.#child.stdin.write(`${JSON.stringify({ file, environment })}\n`);
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`${file} failed:\n${await this.#errors}`);
      return String(JSON.parse(value));
    });
    this.#last = ended;
    return ended;
  }

  async end(): Promise<void> {
    this.#child.stdin.end();
    await this.#closed;
  }
}

function start(program: string, runner: string) {
  return spawn(program, [runner], { stdio: ["pipe", "pipe", "pipe"] });
}
