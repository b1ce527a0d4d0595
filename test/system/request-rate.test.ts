import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";

import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";

import { startLocalGateway, type LocalGateway } from "../../infra/local/gateway.ts";
import { allScopes } from "../../shared/api/contract/scopes.ts";
import type { Actor } from "../../shared/platform/auth/actor.ts";
import { hourMs, secondMs } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import type * as requestRate from "../../shared/platform/http/request-rate.ts";
import { newId } from "../../shared/platform/ids.ts";
import { call, Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { assemblyWithVariables } from "../support/changed-assembly.ts";
import { Faults, isBy } from "../support/faults.ts";
import { patience } from "../support/patience.ts";

/*
 * The limits that keep one caller from using up the capacity of others: on the requests of an organization, and on invalid
 * credentials by network.
 */

type RequestRate = typeof requestRate;

/** A function that has just started: its counts and caches are separate. */
async function newFunction(): Promise<RequestRate> {
  vi.resetModules();
  return import("../../shared/platform/http/request-rate.ts");
}

function newActor(): Actor {
  return {
    organizationId: newId("org"),
    userId: newId("usr"),
    credential: { type: "apiKey", keyId: newId("key") },
    scopes: allScopes,
  };
}

/** Makes requests one after another. @returns how many were let through before the first that was not, and its error */
async function requestsUntilRefused(
  { countRequest }: RequestRate,
  actor: Actor,
  most: number,
): Promise<{ passed: number; error?: unknown }> {
  for (let passed = 0; passed < most; passed += 1) {
    try {
      await countRequest(actor, "Bearer one");
    } catch (error) {
      return { passed, error };
    }
  }
  return { passed: most };
}

describe("an organization's requests", () => {
  // Its ten seconds have just begun.
  const start = new Date("2030-06-01T12:00:00Z");
  const perSecond = 20;
  const burst = 2 * perSecond;
  beforeAll(() => void vi.stubEnv(environmentNames.requestsPerSecond, String(perSecond)));
  afterAll(() => void vi.unstubAllEnvs());
  afterEach(() => void vi.useRealTimers());

  function begin(): void {
    vi.useFakeTimers({ toFake: ["Date"], now: start });
  }

  it("are rejected beyond the burst until their rate is within the limit again", async () => {
    begin();
    const rate = await newFunction();
    const actor = newActor();
    const { passed, error } = await requestsUntilRefused(rate, actor, 1_000);
    // The counts are shared by tens: the tenth beyond the burst shows it.
    expect(passed).toBe(burst + 9);
    expect(error).toMatchObject({
      code: "RATE_LIMITED",
      facts: {
        retryAfterSeconds: 1,
        rateLimit: { name: "requests", max: perSecond, windowMs: secondMs, remaining: 0, resetSeconds: 1 },
      },
    });
    vi.setSystemTime(start.getTime() + secondMs / 2);
    // Ten requests are half a second's worth.
    expect(await requestsUntilRefused(rate, actor, 1_000)).toMatchObject({ passed: 9 });
  });

  it("are limited to the rate and the burst in each ten seconds, and a few more", async () => {
    begin();
    const functions = [await newFunction(), await newFunction(), await newFunction()];
    const actor = newActor();
    let passed = 0;
    for (let atMs = 0; atMs < 10 * secondMs; atMs += 20) {
      vi.setSystemTime(start.getTime() + atMs);
      for (const each of functions) passed += (await requestsUntilRefused(each, actor, 1)).passed;
    }
    expect(passed).toBeGreaterThanOrEqual(9 * perSecond + burst);
    expect(passed).toBeLessThanOrEqual(10 * perSecond + burst + 10 * functions.length);
  });

  it("count in all functions together, and for no other organization", async () => {
    begin();
    const [one, other] = [await newFunction(), await newFunction()];
    const actor = newActor();
    await requestsUntilRefused(one, actor, 1_000);
    expect(await requestsUntilRefused(other, actor, 1_000)).toMatchObject({ passed: 9 });
    expect(await requestsUntilRefused(other, newActor(), burst)).toEqual({ passed: burst });
  });

  it("are let through if the stage has no limit, or if the table is unreachable", async () => {
    begin();
    const rate = await newFunction();
    vi.stubEnv(environmentNames.requestsPerSecond, "");
    expect(await requestsUntilRefused(rate, newActor(), 200)).toEqual({ passed: 200 });
    vi.stubEnv(environmentNames.requestsPerSecond, String(perSecond));
    vi.stubEnv(environmentNames.tableName, "no-such-table");
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    expect(await requestsUntilRefused(rate, newActor(), 60)).toEqual({ passed: 60 });
    expect(write.mock.calls.filter(([line]) => String(line).includes("requests.not_counted"))).toHaveLength(
      6,
    );
    write.mockRestore();
  });
});

describe("a stage with limits", () => {
  const faults = new Faults();
  const lines: string[] = [];
  const unknownCredentials = 3;
  let gateway: LocalGateway;
  let assemblyFolder: string;
  beforeAll(async () => {
    const limits = {
      [environmentNames.requestsPerSecond]: "1",
      [environmentNames.unknownCredentialsPerAddress]: String(unknownCredentials),
    };
    const assembly = await assemblyWithVariables(inject("assembly"), limits);
    ({ assemblyFolder } = assembly);
    const options = { port: 0, log: (line: string) => lines.push(line), runsSchedules: false };
    gateway = await startLocalGateway({ ...assembly, ...options, interceptor: faults.interceptor });
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(assemblyFolder, { recursive: true });
  });

  it("rejects the requests of an organization that makes too many, without reading the table, and no other's", async () => {
    const [abusive, other] = [
      await Customer.register({ baseUrl: gateway.url }),
      await Customer.register({ baseUrl: gateway.url }),
    ];
    const me = async (customer: Customer): Promise<ApiResponse> => customer.call("/v1/auth/me");
    const rejected = await vi.waitFor(async () => {
      const responses = await Promise.all(Array.from({ length: 30 }, async () => me(abusive)));
      const found = responses.find(({ status }) => status === 429);
      if (found === undefined) throw new Error("no request has been rejected");
      return found;
    }, patience);
    expect(errorOf(rejected).code).toBe("RATE_LIMITED");
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(rejected.headers.get("ratelimit-policy")).toBe('"requests";q=1;w=1');
    const line = lines.find((each) => each.includes('"RATE_LIMITED"')) ?? "";
    expect(line).toContain(abusive.organizationId);
    expect((await me(other)).status).toBe(200);

    // Until its time is over, the function rejects a blocked caller from its memory.
    await vi.waitFor(async () => {
      faults.seen.length = 0;
      const again = await me(abusive);
      const asked = faults.seen.filter(isBy("ApiGetMe"));
      expect({ status: again.status, asked }).toEqual({ status: 429, asked: [] });
    }, patience);
    gateway.advanceClock(10 * secondMs);
    expect((await me(abusive)).status).toBe(200);
  });

  it("counts invalid credentials by their network, rejects no valid one, and does not count expired ones", async () => {
    const customer = await Customer.register({ baseUrl: gateway.url });
    const { secret } = await customer.createApiKey();
    const withCredential = async (credential: string): Promise<string> => {
      const response = await call("/v1/wallet", { credential, baseUrl: gateway.url });
      return response.status === 200 ? "200" : errorOf(response).code;
    };
    const madeUp = [`nn_${randomUUID()}`, "a.b.c", `${secret.slice(0, -6)}AAAAAA`, `nn_${randomUUID()}`];
    expect(madeUp).toHaveLength(unknownCredentials + 1);
    const answers: string[] = [];
    for (const each of madeUp) answers.push(await withCredential(each));
    expect(answers).toEqual([...madeUp.slice(1).map(() => "UNAUTHORIZED"), "RATE_LIMITED"]);
    expect(await withCredential(secret)).toBe("200");
    const { token } = customer;
    // The check of tokens compares whole seconds.
    gateway.advanceClock(hourMs + secondMs);
    answers.length = 0;
    for (const each of madeUp) answers.push(await withCredential(each));
    expect(answers.at(-1)).toBe("RATE_LIMITED");
    expect(await withCredential(token)).toBe("UNAUTHORIZED");
    expect(await withCredential(secret)).toBe("200");
  });

  it("counts the calls of hooks without their proof, and rejects no other", async () => {
    const customer = await Customer.register({ baseUrl: gateway.url });
    const { id, token = "" } = await customer.client.createHook({ body: { kind: "logto" } });
    const withToken = async (credential: string): Promise<string> =>
      errorOf(await call(`/v1/hooks/${id}`, { credential, json: {}, baseUrl: gateway.url })).code;
    gateway.advanceClock(hourMs);
    const answers: string[] = [];
    for (let count = 0; count <= unknownCredentials; count += 1) answers.push(await withToken(randomUUID()));
    expect([answers[0], answers.at(-1)]).toEqual(["UNAUTHORIZED", "RATE_LIMITED"]);
    expect(await withToken(token)).toBe("VALIDATION_ERROR");
  });
});
