/** How a function on a laptop calls the local stand-ins for AWS without the network. */
export interface LocalPort {
  /** The services that it leads to. All others are called over HTTP. */
  readonly services: ReadonlySet<string>;
  /** Rejects only when the thread of the stand-ins has ended. */
  send(
    service: string,
    operation: string,
    body: string,
    traceId: string | undefined,
  ): Promise<{ readonly status: number; readonly body: string }>;
}

/** The property of the global object in which a function finds its port, when it is loaded. */
const localPortKey = Symbol.for("sms-gateway.aws-port");

const found: unknown = Reflect.get(globalThis, localPortKey);

function isPort(value: unknown): value is LocalPort {
  return typeof value === "object" && value !== null && "services" in value && "send" in value;
}

/** The port of this function, if it has one. */
export const localPort: LocalPort | undefined = isPort(found) ? found : undefined;
