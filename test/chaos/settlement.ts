import type { MessageRecord } from "../../shared/messages/message/record.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { expireMessages, openEnds, readBooks, readCarrier, type Books } from "./books.ts";
import { problemsOf } from "./checks.ts";
import type { Tenant, Traffic } from "./traffic.ts";
import type { World } from "./world.ts";

/** A world that is not settled after this number of steps, each of this number of minutes, never will be. */
const settlingSteps = 30;
const settlingMinutes = 5;

/** Days are closed an hour after their end. */
const dayEndMs = 26 * hourMs;

/** Messages that were written and never paid for expire after a week, which the clock need not pass. */
const forgottenAfterMs = 8 * dayMs;

/** Log lines that never occur normally: of an inconsistent ledger, or of a chain of jobs that Lambda would end. */
export const alarming = /"event":"ledger\.|in one chain of calls/;

/** Runs a reliable world until no work is left and the day is over. @returns the records of each tenant */
export async function settle(world: World, traffic: Traffic): Promise<Map<Tenant, Books>> {
  await world.waitForDelays();
  for (let step = 0; ; step += 1) {
    await world.runSchedules();
    await traffic.launchCampaigns();
    await traffic.repeatUnanswered();
    await world.advance(settlingMinutes * minuteMs);
    await world.rest();
    const open = (await Promise.all(traffic.tenants.map(readBooks))).flatMap(openEnds);
    const waitingJobs = world.aws.delayedJobs + (await world.hiddenJobs());
    if (open.length + waitingJobs === 0 || step >= settlingSteps) break;
  }
  const forgottenAt = new Date(world.now().getTime() + forgottenAfterMs);
  await Promise.all(traffic.tenants.map(async (tenant) => expireMessages(tenant, forgottenAt)));
  await world.advance(dayEndMs);
  await world.runSchedules();
  return new Map(
    await Promise.all(traffic.tenants.map(async (tenant) => [tenant, await readBooks(tenant)] as const)),
  );
}

/**
 * All problems after a world has settled, in words.
 * @param known the messages of earlier runs on the same gateway; the function adds those of these books
 */
export async function worldProblems(
  world: World,
  books: ReadonlyMap<Tenant, Books>,
  known: Map<string, MessageRecord>,
): Promise<string[]> {
  const problems: string[] = [];
  const carrier = await readCarrier();
  for (const [tenant, its] of books) {
    problems.push(...(await problemsOf(tenant, its, carrier)));
    for (const message of its.messages) known.set(message.id, message);
  }
  problems.push(...world.carriers.problemsOf([...known.values()]));
  const strangers = [...carrier.keys()].filter((id) => !known.has(id));
  for (const id of strangers) problems.push(`the carrier has ${id}, which is no message`);
  const parked = await world.deadLetters();
  if (parked > 0) problems.push(`${parked} jobs are in dead-letter queues`);
  if (world.aws.deadDebits > 0)
    problems.push(`${world.aws.deadDebits} debits were sent over a dead connection`);
  return problems;
}
