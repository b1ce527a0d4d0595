import { config } from "../platform/config.ts";
import { UnreachableError, type CallOptions } from "./call.ts";
import { callbackUrl } from "./callback-url.ts";
import { callsOfKinds } from "./calls-of-kinds.ts";
import type { Carrier } from "./carrier.ts";
import { credentialsIn, readSecret } from "./credentials.ts";
import type { RoutingTable, CarrierRecord } from "./record.ts";
import { carrierFinder, type Routed } from "./routes.ts";
import { CarrierSettings } from "./settings.ts";

/** A carrier, with its name in messages and routes. */
export interface NamedCarrier {
  readonly name: string;
  readonly carrier: Carrier;
  /** Whether the operator has disabled it: no message is submitted to it. */
  readonly isDisabled: boolean;
  /** The throughput that all senders share; undefined is no limit. */
  readonly segmentsPerSecond?: number | undefined;
  /** The most parts of a message that it sends whole; undefined is no limit. */
  readonly maxParts?: number | undefined;
}

/** The carriers that a sender may submit to. */
export interface Carriers {
  /**
   * Returns the carriers of a message's route in their order, including disabled ones. Without a route that is the
   * stage's carrier.
   * @returns an empty list if none of them exists any more
   */
  routeOf(message: Routed): readonly NamedCarrier[];
  named(name: string): NamedCarrier | undefined;
}

/**
 * Returns the carriers of a routing table. The carrier that the stage's file names is always among them, with the
 * settings that the table has for its name.
 */
export function carriersOf({ carriers, routes }: RoutingTable): Carriers {
  const stageCarrier = config.carrier();
  const all = new Map([...carriers.values()].map((record) => [record.name, namedCarrier(record)]));
  if (!all.has(stageCarrier)) {
    const settings = CarrierSettings.parse({ kind: stageCarrier });
    all.set(stageCarrier, namedCarrier({ name: stageCarrier, settings }));
  }
  const find = carrierFinder(routes, stageCarrier);
  return {
    routeOf: (message) => find(message).flatMap((name) => all.get(name) ?? []),
    named: (name) => all.get(name),
  };
}

function namedCarrier(record: Sendable): NamedCarrier {
  const { name, disabledAt, segmentsPerSecond, settings } = record;
  return {
    name,
    carrier: carrierOf(record),
    isDisabled: disabledAt !== undefined,
    segmentsPerSecond,
    maxParts: settings.maxParts,
  };
}

/** The part of a record that sending needs. */
type Sendable = Pick<CarrierRecord, "name" | "settings"> &
  Partial<
    Pick<CarrierRecord, "callbackBaseUrl" | "disabledAt" | "secretId" | "secretVersion" | "segmentsPerSecond">
  >;

/** Returns the carrier that a record describes. */
export function carrierOf(record: Sendable, options?: CallOptions): Carrier {
  const { name, settings } = record;
  const calls = callsOfKinds[settings.kind];
  return {
    idempotent: calls.isIdempotent?.(settings) ?? false,
    send: async (message) => {
      try {
        const secret = await readSecret(record).catch(() => {
          throw new UnreachableError("SecretNotRead");
        });
        const credentials = credentialsIn(calls.credentials, secret);
        const addressed = { ...message, callbackUrl: callbackUrl(record, secret, message.reference) };
        return await calls.submit({ name, settings, credentials }, addressed, options);
      } catch (error) {
        if (error instanceof UnreachableError) return { outcome: "unreachable", reason: error.reason };
        throw error;
      }
    },
  };
}
