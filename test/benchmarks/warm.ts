import { fork } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

import * as z from "zod/mini";

import { localRegion } from "../../infra/local/connections.ts";
import type { LocalGateway } from "../../infra/local/gateway.ts";
import type { AwsHandler, AwsRequest, AwsResponse } from "../../infra/local/local-aws.ts";
import { startReceiver } from "../../infra/local/webhook-receiver.ts";
import { createClient } from "../../shared/api/client/client.ts";
import { newId } from "../../shared/platform/ids.ts";
import { kindOf } from "./canned-aws.ts";
import type { Figure, Suite } from "./figures.ts";
import { startBenchmarkGateway } from "./gateway.ts";
import { shortName } from "./meter.ts";

// `npm run bench -- warm`: the CPU time of a call inside a function, with the code of the SDK and without
// the network. The local gateway recorded the responses of AWS; a process for each function replays them.

/** The input of a process that measures. */
export interface WarmWork {
  readonly bundleUrl: string;
  readonly event: unknown;
  readonly answers: readonly (readonly [kind: string, answer: AwsResponse])[];
  readonly warmUpCalls: number;
  readonly rounds: number;
  readonly callsPerRound: number;
}

const Measured = z.object({
  cpuMs: z.number(),
  /** The result of the last call. */
  answer: z.looseObject({
    statusCode: z.optional(z.number()),
    batchItemFailures: z.optional(z.array(z.unknown())),
  }),
});

/** The input of a function, and its requests to AWS, when it did its work once. */
class Recorder {
  readonly events = new Map<string, unknown>();
  /** The address that functions use for AWS. */
  awsEndpoint = "";
  readonly #answers = new Map<string, Map<string, AwsResponse>>();

  readonly interceptor = async (request: AwsRequest, next: AwsHandler): Promise<AwsResponse> => {
    const answer = await next(request);
    const { functionName, operation, headers, body } = request;
    this.awsEndpoint = `http://${headers["host"]}`;
    const answers = this.#answers.get(functionName) ?? new Map<string, AwsResponse>();
    this.#answers.set(functionName, answers);
    // The later calls are those of a warm function.
    answers.set(kindOf(operation.replace(/.*:/, ""), body), answer);
    return answer;
  };

  watch({ functions }: LocalGateway): void {
    for (const [name, host] of functions) {
      const invoke = host.invoke.bind(host);
      host.invoke = async (event, traceId) => {
        this.events.set(name, event);
        return invoke(event, traceId);
      };
    }
  }

  answersOf(functionName: string): WarmWork["answers"] {
    return [...(this.#answers.get(functionName) ?? [])];
  }
}

interface Measurement {
  readonly what: string;
  /** The short name of the function. */
  readonly functionName: string;
  readonly event: unknown;
  /** The status of the response; a worker has none, and its jobs do not fail. */
  readonly status?: number;
  /** The number of jobs in one call; the figure is for one. */
  readonly count?: number;
  readonly atMost?: number;
}

const jobsInBatch = 10;

export const warmSuite: Suite = async ({ isQuick }, note) => {
  const recorder = new Recorder();
  const gateway = await startBenchmarkGateway({ interceptor: recorder.interceptor });
  recorder.watch(gateway);
  const figures: Figure[] = [];
  for (const { what, functionName, event, status, count = 1, atMost } of await record(gateway, recorder)) {
    if (isQuick && atMost === undefined) continue;
    note(`warm: ${what}`);
    const definition = gateway.stack.functions.find(({ name }) => shortName(name) === functionName);
    if (definition === undefined) throw new Error(`the stack has no function ${functionName}`);
    const environment = { ...definition.environment, AWS_ENDPOINT_URL: recorder.awsEndpoint };
    const { cpuMs, answer } = await measure(environment, {
      bundleUrl: pathToFileURL(definition.bundleFile).href,
      event,
      answers: recorder.answersOf(definition.name),
      // Until the compiler has optimized it.
      warmUpCalls: Math.ceil((isQuick ? 200 : 600) / count),
      rounds: isQuick ? 3 : 9,
      callsPerRound: Math.ceil((isQuick ? 50 : 100) / count),
    });
    if (answer.statusCode !== status || (answer.batchItemFailures ?? []).length > 0) {
      throw new Error(`${what}: the function has not done its work, but returned ${JSON.stringify(answer)}`);
    }
    figures.push({
      suite: "warm",
      what: `${what}: CPU`,
      value: cpuMs / count,
      unit: "ms",
      ...(atMost === undefined ? {} : { atMost }),
    });
  }
  await gateway.stop();
  return figures;
};

/** Lets the functions do the measured work once. */
async function record(gateway: LocalGateway, recorder: Recorder): Promise<readonly Measurement[]> {
  const receiver = await startReceiver();
  const body = { email: `${newId("usr")}@example.com`, password: "correct horse battery" };
  const { token } = await createClient({ baseUrl: gateway.url }).register({ body });
  const session = createClient({ baseUrl: gateway.url, credential: token });
  const { secret } = await session.createApiKey();
  const client = createClient({ baseUrl: gateway.url, credential: secret });
  await client.topUpWallet({ body: { amount: 1_000 } });
  await client.createWebhook({ body: { url: receiver.url } });
  const eventOf = (functionName: string): unknown => {
    const [, event] = [...recorder.events].find(([name]) => shortName(name) === functionName) ?? [];
    if (event === undefined) throw new Error(`${functionName} was not called`);
    return event;
  };
  for (let sends = 0; sends < 20; sends += 1) {
    await client.sendSms({
      body: { to: "15005550000", message: "Your code is 123456", senderId: "ADASHOP" },
    });
    await receiver.next();
  }
  receiver.close();
  // The second call is that of a warm function, which has cached the key.
  await client.listSms();
  await client.listSms();
  const list = eventOf("ListSms");
  // An invalid page is rejected right after the authentication.
  const [withApiKey, withSession] = [secret, token].map((credential) =>
    refusedBehindAuthentication(list, credential),
  );
  await session.listSms();
  const deliver = Jobs.parse(eventOf("SendMessage"));
  const batch = { Records: Array.from({ length: jobsInBatch }, () => deliver.Records[0]) };
  return [
    { what: "accept", functionName: "SendSms", event: eventOf("SendSms"), status: 202, atMost: 1.5 },
    { what: "deliver, with an event", functionName: "SendMessage", event: deliver, atMost: 1 },
    { what: `deliver, one of ${jobsInBatch}`, functionName: "SendMessage", event: batch, count: jobsInBatch },
    { what: "dispatch, to one webhook", functionName: "DispatchWebhook", event: eventOf("DispatchWebhook") },
    { what: "list of 20 messages", functionName: "ListSms", event: list, status: 200 },
    { what: "authenticate an API key", functionName: "ListSms", event: withApiKey, status: 400 },
    { what: "authenticate a session", functionName: "ListSms", event: withSession, status: 400 },
  ];
}

const Jobs = z.looseObject({ Records: z.array(z.unknown()).check(z.minLength(1)) });
const HttpEvent = z.looseObject({ headers: z.record(z.string(), z.string()) });

function refusedBehindAuthentication(event: unknown, credential: string): unknown {
  const { headers, ...rest } = HttpEvent.parse(event);
  return {
    ...rest,
    headers: { ...headers, authorization: `Bearer ${credential}` },
    queryStringParameters: { limit: "0" },
  };
}

async function measure(
  environment: Readonly<Record<string, string>>,
  work: WarmWork,
): Promise<z.infer<typeof Measured>> {
  const child = fork(new URL("warm-process.ts", import.meta.url), {
    env: {
      ...environment,
      AWS_REGION: localRegion,
      AWS_ACCESS_KEY_ID: "none",
      AWS_SECRET_ACCESS_KEY: "none",
    },
  });
  child.send(work);
  const ended = once(child, "exit").then(() => {
    throw new Error("a process that measures ended without a figure");
  });
  const [measured]: unknown[] = await Promise.race([once(child, "message"), ended]);
  await ended.catch(() => undefined);
  return Measured.parse(measured);
}
