import { answerRequests, checkThatAllWasAnswered } from "./canned-aws.ts";
import { median } from "./figures.ts";
import type { WarmWork } from "./warm.ts";

/*
 * The inside of a process in which one function is measured: it loads the bundle and calls the handler again and again.
 */

type Handler = (event: unknown, context: object) => Promise<unknown>;

async function measure(work: WarmWork): Promise<void> {
  const { bundleUrl, event, answers, warmUpCalls, rounds, callsPerRound } = work;
  answerRequests(new Map(answers));
  const { handler }: { handler: Handler } = await import(bundleUrl);
  // The logs of functions do not belong to the output.
  process.stdout.write = () => true;
  // With less time left than the timeout of a carrier, a message would be rescheduled.
  const context = { awsRequestId: "1", getRemainingTimeInMillis: () => 60_000 };
  const call = async (): Promise<unknown> => handler(event, context);
  const callOften = async (times: number): Promise<unknown> => {
    let answer: unknown;
    for (let calls = 0; calls < times; calls += 1) answer = await call();
    return answer;
  };
  const answer = await callOften(warmUpCalls);
  const cpuMs: number[] = [];
  while (cpuMs.length < rounds) {
    const before = process.cpuUsage();
    await callOften(callsPerRound);
    const { user, system } = process.cpuUsage(before);
    cpuMs.push((user + system) / 1_000 / callsPerRound);
  }
  checkThatAllWasAnswered();
  process.send?.({ cpuMs: median(cpuMs), answer }, () => process.disconnect());
}

process.once("message", (work: WarmWork) => void measure(work));
