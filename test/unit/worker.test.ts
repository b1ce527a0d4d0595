import type { Context, SQSEvent, SQSRecord } from "aws-lambda";
import { afterEach, expect, it, vi } from "vitest";
import * as z from "zod/mini";

import { ReturnsLater } from "../../shared/platform/jobs/job.ts";
import { scheduled } from "../../shared/platform/jobs/scheduled.ts";
import { worker } from "../../shared/platform/jobs/worker.ts";
import { countMetrics } from "../../shared/platform/metrics.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function batchOf(...bodies: readonly string[]): SQSEvent {
  const records = bodies.map((body, index): Partial<SQSRecord> => ({
    messageId: String(index),
    body,
    attributes: {
      ApproximateReceiveCount: "3",
      SentTimestamp: "",
      SenderId: "",
      ApproximateFirstReceiveTimestamp: "",
    },
  }));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The worker looks at nothing else.
  return { Records: records } as SQSEvent;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Nor at anything of this.
const context = {} as Context;

it("reports the jobs that failed, whatever was wrong with them, and counts them for the alarm", async () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  const done: string[] = [];
  const handler = worker(z.object({ name: z.string() }), async ({ name }) => {
    if (name === "bad") throw new Error("it did not work");
    done.push(name);
  });
  const batch = batchOf('{"name":"good"}', '{"name":"bad"}', "no JSON", "{}", '{"name":"also good"}');
  expect(await handler(batch, context)).toEqual({
    batchItemFailures: [{ itemIdentifier: "1" }, { itemIdentifier: "2" }, { itemIdentifier: "3" }],
  });
  expect(done).toEqual(["good", "also good"]);
  expect(written.filter((line) => line.includes('"event":"job.failed"'))).toHaveLength(3);
  // The metrics of a batch are one line.
  expect(written.filter((line) => line.includes('"_aws"'))).toHaveLength(1);
  expect(written.filter((line) => line.includes('"FailedJobs":3'))).toHaveLength(1);
});

it("does not count a job that returns through no fault of the gateway", async () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  const handler = worker(z.string(), async () => {
    throw new ReturnsLater("what the carrier did is not known");
  });
  expect(await handler(batchOf('"one"'), context)).toEqual({ batchItemFailures: [{ itemIdentifier: "0" }] });
  expect(written.some((line) => line.includes('"event":"job.failed"'))).toBe(true);
  expect(written.some((line) => line.includes("FailedJobs"))).toBe(false);
});

it("counts a failed job for the version of the function during a gradual deployment", async () => {
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "send-message");
  vi.stubEnv("AWS_LAMBDA_FUNCTION_VERSION", "7");
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  await worker(z.string(), async () => undefined)(batchOf('"good"', "no JSON"), context);
  const faults = written.filter((line) => line.includes('"Faults":1'));
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain('"FunctionName":"send-message","ExecutedVersion":"7"');
});

it("passes on the results of all successful jobs together", async () => {
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const concluded: (readonly string[])[] = [];
  const handler = worker(
    z.object({ name: z.string() }),
    async ({ name }) => {
      if (name === "bad") throw new Error("it did not work");
      return name;
    },
    { conclude: async (results) => void concluded.push(results) },
  );
  await handler(batchOf('{"name":"good"}', '{"name":"bad"}', '{"name":"also good"}'), context);
  expect(concluded).toEqual([["good", "also good"]]);
});

it("writes the metrics of scheduled work, also when it fails", async () => {
  const written: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((line) => written.push(String(line)) > 0);
  await scheduled("things.done", async () => {
    countMetrics({ UnreadableRecords: 1 });
    return 3;
  })({});
  const failing = scheduled("things.done", async () => {
    countMetrics({ UnreadableRecords: 2 });
    throw new Error("it did not work");
  });
  await expect(failing({})).rejects.toThrow("it did not work");
  expect(written).toHaveLength(3);
  expect(written[0]).toContain('"event":"things.done","count":3');
  expect(written[1]).toContain('"UnreadableRecords":1');
  expect(written[2]).toContain('"UnreadableRecords":2');
});

it("passes the same shared value to all jobs of a batch, and another one to the next batch", async () => {
  const shared: unknown[] = [];
  const handler = worker(z.number(), async (_job, { batch }) => shared.push(batch), {
    begin: () => new Map(),
  });
  await handler(batchOf("1", "2"), context);
  await handler(batchOf("3"), context);
  expect(shared[0]).toBe(shared[1]);
  expect(shared[2]).not.toBe(shared[0]);
});
