import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";

import { expect, inject, it, vi } from "vitest";
import * as z from "zod/mini";

import { startReceiver } from "../../infra/local/webhook-receiver.ts";
import { call } from "../support/api.ts";
import { patience } from "../support/patience.ts";
import { card, sendForm } from "../support/stripe.ts";

/*
 * Runs the README's tour, command by command, and compares the responses with those that the README shows. Ids, times and
 * secrets are new each time, so they are compared by their kind.
 */

interface Step {
  readonly commands: readonly string[];
  readonly answers: readonly unknown[];
}

async function readTour(): Promise<Step[]> {
  const readme = await readFile("README.md", "utf8");
  const tour = readme.slice(readme.indexOf("## Five-minute tour"), readme.indexOf("## API"));
  return [...tour.matchAll(/```sh\n(curl .*?)```\n\n(?:<!-- oxfmt-ignore -->\n)?```json\n(.*?)```/gs)].map(
    ([, shell = "", json = ""]) => ({
      commands: shell
        .replaceAll("\\\n", " ")
        .split("\n")
        .filter((line) => line !== ""),
      answers: (json.startsWith("{\n") ? [json] : json.trim().split("\n")).map((answer): unknown =>
        JSON.parse(answer),
      ),
    }),
  );
}

/** Carries out a curl command with the values of the shell's variables, by the options that the tour uses. */
async function curl(command: string, variables: Readonly<Record<string, string>>): Promise<unknown> {
  const filled = command.replaceAll(/\$([A-Z]+)/g, (_, name: string) => variables[name] ?? "");
  const words = [...filled.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, ...found]) => found.join(""));
  const values = (option: string): string[] => words.filter((_, index) => words[index - 1] === option);
  const { pathname } = new URL(words[1] ?? "");
  const response = await call(pathname, {
    headers: Object.fromEntries(values("-H").map((header) => header.split(": "))),
    ...Object.fromEntries(values("-X").map((method) => ["method", method])),
    ...Object.fromEntries(values("-d").map((raw) => ["raw", raw])),
  });
  expect(response.status, response.text).toBeLessThan(300);
  return response.body;
}

/** Replaces the values of a response that are new each time by the name of their kind. */
function kinds(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer)
      .replaceAll(/(?<=\b[a-z]{3}_)[0-9A-HJKMNP-TV-Z]{26}\b/g, "<id>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
      .replaceAll(/eyJ[^"]+/g, "<token>")
      .replaceAll(/(?<="checkoutUrl":")[^"]+/g, "<url>")
      .replaceAll(/nn_[^"]+/g, "<key>")
      .replaceAll(/whsec_[^"]+/g, "<secret>"),
  );
}

const Found = z.object({
  data: z.partial(
    z.object({ id: z.string(), token: z.string(), secret: z.string(), checkoutUrl: z.string() }),
  ),
});

/** Pays at the provider's page, and waits for the money. A stage without a provider tops up the wallet instead. */
async function pay(credential: string, checkoutUrl?: string): Promise<void> {
  if (checkoutUrl === undefined) await call("/v1/wallet/top-up", { method: "POST", credential });
  else await sendForm(checkoutUrl, card);
  await vi.waitFor(async () => {
    expect((await call("/v1/wallet", { credential })).body).toMatchObject({ data: { balance: 10 } });
  }, patience);
}

async function acceptsCards(credential: string): Promise<boolean> {
  return (await call("/v1/billing", { credential })).text.includes('"card"');
}

it("the README's tour works as described, with the shown responses", async () => {
  const receiver = await startReceiver();
  const email = `${randomUUID()}@example.com`;
  const variables: Record<string, string> = {};
  const tour = await readTour();
  expect(tour.flatMap(({ commands }) => commands)).toHaveLength(7);
  for (const { commands, answers } of tour) {
    expect(answers).toHaveLength(commands.length);
    for (const [index, command] of commands.entries()) {
      // The tests share one gateway, and its port differs from the README's.
      const here = command
        .replaceAll("ada@example.com", email)
        .replaceAll("http://127.0.0.1:4000/sms-events", receiver.url);
      // The results "a moment later" exist when the receiver has got its call.
      if (command.includes("$ID")) await receiver.next();
      if (here.includes("/v1/payments") && !(await acceptsCards(variables["TOKEN"] ?? ""))) {
        await pay(variables["TOKEN"] ?? "");
        continue;
      }
      const answer = await curl(here, variables);
      const shown: unknown = JSON.parse(
        JSON.stringify(answers[index])
          .replaceAll("ada@example.com", email)
          .replaceAll("http://127.0.0.1:4000/sms-events", receiver.url),
      );
      expect(kinds(answer), command).toEqual(kinds(shown));
      const { id = "", token, secret = "", checkoutUrl } = Found.parse(answer).data;
      if (checkoutUrl !== undefined) await pay(variables["TOKEN"] ?? "", checkoutUrl);
      if (token !== undefined) variables["TOKEN"] = token;
      if (secret.startsWith("nn_")) variables["KEY"] = secret;
      if (id.startsWith("msg_")) variables["ID"] = id;
    }
  }
  receiver.close();
});

it("the README's addresses are the defaults of the gateway and the receiver", async () => {
  const readme = await readFile("README.md", "utf8");
  const ports = new Set(
    [...readme.matchAll(/127\.0\.0\.1:(\d+)\/(?:v1|sms-events)/g)].map(([, port]) => port),
  );
  expect(ports).toEqual(new Set(["3000", "4000"]));
  expect(await readFile("infra/local/start.ts", "utf8")).toContain('portSetting("PORT", 3000)');
  expect(await readFile("infra/local/demo/receive.ts", "utf8")).toContain(
    'portSetting("RECEIVER_PORT", 4000)',
  );
  expect(inject("baseUrl")).toMatch(/^http/);
});
