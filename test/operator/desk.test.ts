import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { describe, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { startDeskLink } from "../../infra/local/desk-link.ts";
import { commands } from "../../infra/operator/command-line.ts";
import type { OperatorCommand } from "../../infra/operator/command.ts";
import type { Context } from "../../infra/operator/context.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { identity, senderId, startAwsAccount } from "../support/aws-account.ts";
import { DeskClient, deskOf, openDesk } from "../support/desk.ts";
import { auditLog, captured, outputOf } from "../support/operator.ts";
import { useOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";

const operated = useOperatedGateway();

/** A customer's credit, as the form of the desk sends it. */
const creditOf = (organization: string, amount = "5") => ({ organization, amount, reason: "Sorry" });

describe("the session", () => {
  it("begins once with the token of the link, and a cookie that no script and no other site gets continues it", async () => {
    const desk = new DeskClient(await deskOf());
    const { pathname, port } = desk.link;
    expect(await desk.send("desk", {})).toMatchObject({ status: 401, body: "The session has ended." });
    expect(await desk.begin("wrong")).toBe("");
    const cookie = await desk.begin();
    expect(cookie).toMatch(
      new RegExp(`^desk-${port}=\\w{48}; Path=${pathname}; Max-Age=28800; HttpOnly; SameSite=Strict$`),
    );
    expect(await desk.send("desk", {})).toMatchObject({ status: 200 });
    expect(await desk.send("session", { token: desk.token })).toMatchObject({
      status: 401,
      body: "This link was used already, or is not complete.",
    });
    expect(await desk.send("desk", {}, { cookie: cookie.replace(/=./, "=z") })).toMatchObject({
      status: 401,
    });
  });

  it("ends after eight hours", async () => {
    const desk = await openDesk();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 8 * hourMs - 60_000 });
    expect(await desk.send("desk", {})).toMatchObject({ status: 200 });
    vi.setSystemTime(Date.now() + 61_000);
    expect(await desk.send("desk", {})).toMatchObject({ status: 401 });
    vi.useRealTimers();
  });

  it("rejects other hosts and origins, and paths without the secret of the link", async () => {
    const desk = await openDesk();
    const { port, origin } = desk.link;
    const statusOf = async (headers: Readonly<Record<string, string>>, path = "desk") =>
      (await desk.send(path, {}, headers)).status;
    expect(await statusOf({ host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403);
    expect(await statusOf({ host: `localhost:${Number(port) + 1}` })).toBe(403);
    expect(await statusOf({ origin: "http://127.0.0.1:3000" })).toBe(403);
    expect(await statusOf({ origin: "null" })).toBe(403);
    expect(await statusOf({ host: `localhost:${port}`, origin })).toBe(403);
    expect(await statusOf({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);
    expect(await statusOf({}, "../desk")).toBe(404);
    expect((await fetch(`${origin}/desk`)).status).toBe(404);
  });

  it("serves pages without sources of other sites, which no cache keeps and no frame shows", async () => {
    const desk = new DeskClient(await deskOf());
    const { headers } = await desk.send("");
    expect(headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    );
  });
});

describe("a change", () => {
  it("is done after its question, once for all requests that confirm it, with an entry in the audit log", async () => {
    const { email, organizationId, balance } = await operatedCustomer();
    const desk = await openDesk();
    const input = creditOf(email);
    const asked = await desk.run("wallets credit", input);
    expect(asked).toMatchObject({ state: "question", typed: organizationId });
    expect(asked.question).toContain("change this wallet by 5.000000 USD (credit): Sorry\n");
    expect(await desk.run("wallets credit", input, { ticket: asked.ticket, typed: "yes" })).toMatchObject({
      state: "question",
    });
    expect(await balance()).toBe(0);

    const consent = { ticket: asked.ticket, typed: ` ${organizationId} ` };
    const { stderr } = await captured(async () => {
      const same = await Promise.all([1, 2].map(async () => desk.run("wallets credit", input, consent)));
      expect(same[0]).toMatchObject({ state: "done" });
      expect([same[1], await desk.run("wallets credit", input, consent)]).toEqual([same[0], same[0]]);
    });
    // The operator still has the reference if the page loses the response.
    expect(stderr).toMatch(/^If the response is lost, repeat the command with --reference \S+\n$/);
    expect(await balance()).toBe(5);
    const subject = { amount: "5", reason: "Sorry" };
    const facts = { actor: { identity: "local operator" }, subject };
    const outcomes = ["done", "refused", "refused"].map((outcome) => ({ ...facts, outcome }));
    expect(await auditLog("wallets credit", organizationId)).toMatchObject(outcomes);
  });

  it("of the wallet is done when only the balance has changed meanwhile", async () => {
    const { email, organizationId, balance } = await operatedCustomer();
    const desk = await openDesk();
    const payment = { ...creditOf(email), type: "payment", reference: `bank-${organizationId}` };
    await captured(async () => {
      for (const [name, input] of [
        ["wallets credit", creditOf(email)],
        ["wallets credit", payment],
        ["wallets debit", creditOf(email, "2")],
      ] as const) {
        const before = (await balance()).toFixed(6);
        const { ticket, question } = await desk.run(name, input);
        expect(question).toMatch(new RegExp(`\nBalance now +${before} USD$`));
        await outputOf(`wallets credit ${email} 1 --reason x --reference ${ticket}`);
        const consent = { ticket, typed: organizationId };
        expect(await desk.run(name, input, consent)).toMatchObject({ state: "done" });
      }
    });
    expect(await balance()).toBe(11);
  });

  it("is asked again when the question has changed meanwhile", async () => {
    const { email, organizationId, balance, call } = await operatedCustomer();
    const desk = await openDesk();
    const { ticket } = await desk.run("wallets credit", creditOf(email));
    await call("/v1/kyc", { json: { businessName: "Ada" } });
    const again = await desk.run("wallets credit", creditOf(email), { ticket, typed: organizationId });
    expect(again).toMatchObject({
      state: "question",
      question: expect.stringContaining("another one than the one you confirmed"),
    });
    expect(again.question).toMatch(/^KYC +pending \(Ada\)$/m);
    const other = await desk.run("wallets credit", creditOf(email, "500"), {
      ticket: again.ticket,
      typed: organizationId,
    });
    expect(other).toMatchObject({
      state: "question",
      question: expect.stringContaining("another one than the one you confirmed"),
    });
    expect(await balance()).toBe(0);
  });

  it("is done after a confirmation whose input was not valid", async () => {
    const { email, organizationId, balance } = await operatedCustomer();
    const desk = await openDesk();
    const { ticket } = await desk.run("wallets credit", creditOf(email));
    const confirm = async (amount: string) =>
      desk.run("wallets credit", creditOf(email, amount), { ticket, typed: organizationId });
    await captured(async () => {
      expect(await confirm("five")).toMatchObject({ state: "failed", part: "amount" });
      expect(await confirm("5")).toMatchObject({ state: "done" });
    });
    expect(await balance()).toBe(5);
  });

  it("is one at a time, and one that is rejected for this can be confirmed again", async () => {
    const { promise: whenReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: whenWaiting, resolve: isWaiting } = Promise.withResolvers<void>();
    const slow = replaced("sending resume", async ({ confirm }) => {
      await confirm("wait");
      isWaiting();
      await whenReleased;
    });
    const { email, organizationId, balance } = await operatedCustomer();
    const desk = await openDesk({ commands: slow });
    const first = desk.change("sending resume", {});
    await whenWaiting;
    const { ticket } = await desk.run("wallets reopen", { organization: email });
    const consent = { ticket, typed: organizationId };
    const reopen = async () => desk.run("wallets reopen", { organization: email }, consent);
    expect(await reopen()).toMatchObject({
      state: "failed",
      problem: "Nothing was changed: another change is in progress.",
    });
    release();
    expect(await first).toMatchObject({ state: "done" });
    expect(await reopen()).toMatchObject({ state: "done" });
    expect(await balance()).toBe(0);
  });

  it("that fails shows what it printed before, and its entry in the audit log has the outcome", async () => {
    const { email, organizationId } = await operatedCustomer();
    const desk = await openDesk();
    await captured(async () => {
      expect(await desk.change("wallets debit", creditOf(email, "50"))).toMatchObject({
        state: "failed",
        problem: "The balance is lower than that amount.",
        output: [{ kind: "warning" }],
      });
    });
    const [entry] = await auditLog("wallets debit", organizationId);
    expect(entry).toMatchObject({ outcome: "refused", errorCode: "INSUFFICIENT_BALANCE" });
  });
});

it("checks the input, and names the part that is wrong", async () => {
  const desk = await openDesk();
  expect(
    await desk.run("wallets credit", { organization: "org_1", amount: "-1", reason: "x" }),
  ).toMatchObject({
    state: "failed",
    part: "amount",
    problem: "must be a number above 0 with at most 6 decimals, for example 12.50",
  });
});

it.for<{ name: string; input: Readonly<Record<string, string>> }>([
  { name: "organizations export", input: { organization: "org_1" } },
  { name: "prices restore", input: { version: "1" } },
  { name: "carriers set", input: { name: "one", settings: "/etc/passwd" } },
  { name: "sending pause", input: { reason: "x", table: "another" } },
  { name: "carriers list", input: { unknown: "x" } },
  { name: "version", input: {} },
])("does not offer $name with $input, which stays on the command line", async ({ name, input }) => {
  const desk = await openDesk();
  await expect(desk.run(name, input)).rejects.toThrow("400: The desk does not offer this");
});

it("counts the read units of searches that run at the same time separately", async () => {
  const customer = await operated.register({ balance: 1 });
  await customer.send();
  const desk = await openDesk();
  const readUnits = async (): Promise<number> => {
    const { output } = await desk.run("messages find", { number: "15005550000" });
    return Number(/(\d+(?:\.\d+)?) read units$/.exec(output?.at(-1)?.text ?? "")?.[1]);
  };
  const alone = await readUnits();
  expect(alone).toBeGreaterThan(0);
  expect(await Promise.all([readUnits(), readUnits()])).toEqual([alone, alone]);
});

it("names the AWS identity in the audit log, and ends with the program that started it", async () => {
  const { email, organizationId } = await operatedCustomer();
  const account = await startAwsAccount(operated.gateway);
  const env = { PATH: process.env["PATH"], DATA_DIR: operated.dataFolder, ...account.environment };
  const typed = ["infra/operator/main.ts", "desk", "--stage", "prod", "--json"];
  const child = spawn(process.execPath, typed, { env, stdio: ["pipe", "pipe", "inherit"] });
  const [line] = z.tuple([z.string()]).parse(await once(createInterface(child.stdout), "line"));
  const desk = new DeskClient(z.object({ link: z.string() }).parse(JSON.parse(line)).link);
  await desk.begin();
  expect(JSON.parse((await desk.send("desk", {})).body)).toMatchObject({ stage: "prod", identity });
  expect((await desk.send("app.js")).status).toBe(200);
  const closed = await desk.change("wallets close", { organization: email, reason: "Ticket 7" });
  expect(closed).toMatchObject({
    state: "done",
    output: [{ text: expect.stringContaining("closed since") }],
  });
  const [entry] = await auditLog("wallets close", organizationId);
  expect(entry).toMatchObject({ actor: { identity: senderId, claimedArn: identity }, outcome: "done" });
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([0, null]);
  await account.stop();
});

it("stays in the background, where standard input is closed", async () => {
  const env = { PATH: process.env["PATH"], DATA_DIR: operated.dataFolder };
  const typed = ["infra/operator/main.ts", "desk", "--json"];
  const child = spawn(process.execPath, typed, { env, stdio: ["ignore", "pipe", "inherit"] });
  const [line] = z.tuple([z.string()]).parse(await once(createInterface(child.stdout), "line"));
  const desk = new DeskClient(z.object({ link: z.string() }).parse(JSON.parse(line)).link);
  await desk.begin();
  expect(await desk.send("desk", {})).toMatchObject({ status: 200 });
  child.kill();
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
});

it("opens from the link of the local gateway, as often as someone opens it, and ends with its server", async () => {
  const { link, server } = await startDeskLink(operated.dataFolder);
  const open = async (url: string, headers = {}): Promise<Response> =>
    fetch(url, { redirect: "manual", headers });
  for (const url of [new URL("/", link).href, `${link.slice(0, -1)}x`])
    expect((await open(url)).status).toBe(404);
  expect((await open(link, { origin: "https://example.com" })).status).toBe(404);
  const desks: DeskClient[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { headers } = await open(link);
    const desk = new DeskClient(headers.get("location") ?? "");
    await desk.begin();
    expect(JSON.parse((await desk.send("desk", {})).body)).toMatchObject({ stage: "local" });
    desks.push(desk);
  }
  const hasEnded = async (desk: DeskClient | undefined): Promise<void> =>
    vi.waitFor(async () => expect(desk?.send("desk", {})).rejects.toThrow("ECONNREFUSED"), patience);
  await hasEnded(desks[0]);
  server.close();
  server.closeAllConnections();
  await hasEnded(desks[1]);
});

/** The commands, with another function for one of them. */
function replaced(name: string, run: (context: Context) => Promise<void>): OperatorCommand[] {
  const work = z.pipe(
    z.object({}),
    z.transform(() => run),
  );
  return commands.map((each) => (each.name === name ? { ...each, work } : each));
}

async function operatedCustomer() {
  const customer = await operated.register();
  const { email, organizationId } = customer;
  const balance = async (): Promise<number> => customer.balance();
  return { email, organizationId, call: customer.call.bind(customer), balance };
}
