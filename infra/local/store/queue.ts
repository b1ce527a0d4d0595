import { randomUUID } from "node:crypto";

/** A message on a queue. */
export interface StoredMessage {
  readonly id: string;
  queueName: string;
  readonly body: string;
  readonly attributes: object | undefined;
  readonly groupId: string | undefined;
  readonly senderId: string;
  readonly sentAtMs: number;
  /** When it becomes, or became, visible, in milliseconds since the epoch. */
  visibleAtMs: number;
  receiveCount: number;
  firstReceivedAtMs: number | undefined;
}

/** Stores messages for the next run. */
export interface MessageStore {
  put(message: StoredMessage): void;
  delete(id: string): void;
}

export interface QueueSettings {
  readonly visibilityTimeoutMs: number;
  /** The dead-letter queue, and after how many receipts a message moves there. */
  readonly redrive:
    | { readonly maxReceiveCount: number; readonly target: () => Queue | undefined }
    | undefined;
}

export interface ReceivedMessage {
  readonly message: StoredMessage;
  readonly receiptHandle: string;
}

interface Waiter {
  readonly limit: number;
  readonly visibilityTimeoutMs: number | undefined;
  readonly resolve: (received: ReceivedMessage[]) => void;
}

/** The longest delay of setTimeout. */
const maxDelayMs = 2_147_483_647;

/** A standard queue of SQS: each message is received at least once, and each receipt hides it for a while. */
export class Queue {
  settings: QueueSettings;
  readonly name: string;
  readonly #store: MessageStore;
  readonly #ready = new Set<StoredMessage>();
  /** Delayed and received messages, with the timers that make them visible. */
  readonly #hidden = new Map<StoredMessage, NodeJS.Timeout>();
  /** The messages in flight by the handle of their latest receipt. */
  readonly #inFlight = new Map<string, StoredMessage>();
  readonly #waiters = new Set<Waiter>();
  #isServingSoon = false;

  constructor(name: string, settings: QueueSettings, store: MessageStore) {
    this.name = name;
    this.settings = settings;
    this.#store = store;
  }

  /** The numbers of messages that are visible, in flight and delayed. */
  get counts(): { readonly visible: number; readonly inFlight: number; readonly delayed: number } {
    const inFlight = this.#inFlight.size;
    return { visible: this.#ready.size, inFlight, delayed: this.#hidden.size - inFlight };
  }

  /** Adds a message, which can be received from its `visibleAtMs` on. */
  add(message: StoredMessage): void {
    message.queueName = this.name;
    this.#store.put(message);
    this.restore(message);
  }

  /** Adds a message that is stored already. */
  restore(message: StoredMessage): void {
    if (message.visibleAtMs <= Date.now()) this.#show(message);
    else this.#hide(message);
  }

  /**
   * Receives visible messages, or the first ones that arrive within the wait.
   * @param signal ends the wait
   */
  async receive(
    limit: number,
    {
      waitMs,
      visibilityTimeoutMs,
      signal,
    }: { waitMs: number; visibilityTimeoutMs?: number; signal: AbortSignal },
  ): Promise<ReceivedMessage[]> {
    if (this.#ready.size > 0 || waitMs === 0 || signal.aborted) return this.#take(limit, visibilityTimeoutMs);
    return new Promise((resolve) => {
      const end = (received: ReceivedMessage[]): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        this.#waiters.delete(waiter);
        resolve(received);
      };
      const cancel = (): void => end([]);
      const waiter: Waiter = { limit, visibilityTimeoutMs, resolve: end };
      const timer = setTimeout(cancel, waitMs);
      signal.addEventListener("abort", cancel);
      this.#waiters.add(waiter);
    });
  }

  /** Deletes a received message. Only the latest receipt of a message is valid. */
  delete(receiptHandle: string): void {
    const message = this.#inFlight.get(receiptHandle);
    if (message === undefined) return;
    this.#inFlight.delete(receiptHandle);
    this.#reveal(message);
    this.#store.delete(message.id);
  }

  /** Makes a received message visible again after a timeout from now. @returns whether it was in flight */
  changeVisibility(receiptHandle: string, timeoutMs: number): boolean {
    const message = this.#inFlight.get(receiptHandle);
    if (message === undefined) return false;
    message.visibleAtMs = Date.now() + timeoutMs;
    this.#store.put(message);
    this.#reveal(message);
    this.#hide(message, receiptHandle);
    return true;
  }

  /** Stops all timers, and ends all waits. */
  close(): void {
    for (const timer of this.#hidden.values()) clearTimeout(timer);
    for (const waiter of this.#waiters) waiter.resolve([]);
  }

  #take(limit: number, visibilityTimeoutMs = this.settings.visibilityTimeoutMs): ReceivedMessage[] {
    const received: ReceivedMessage[] = [];
    for (const message of this.#ready) {
      if (received.length === limit) break;
      this.#ready.delete(message);
      if (this.#isParked(message)) continue;
      const now = Date.now();
      message.receiveCount += 1;
      message.firstReceivedAtMs ??= now;
      message.visibleAtMs = now + visibilityTimeoutMs;
      this.#store.put(message);
      const receiptHandle = randomUUID();
      this.#hide(message, receiptHandle);
      received.push({ message, receiptHandle });
    }
    return received;
  }

  #isParked(message: StoredMessage): boolean {
    const { redrive } = this.settings;
    const target = redrive?.target();
    if (redrive === undefined || target === undefined) return false;
    if (message.receiveCount < redrive.maxReceiveCount) return false;
    message.visibleAtMs = Date.now();
    target.add(message);
    return true;
  }

  #hide(message: StoredMessage, receiptHandle?: string): void {
    const show = (): void => {
      if (message.visibleAtMs > Date.now()) {
        this.#hide(message, receiptHandle);
        return;
      }
      this.#hidden.delete(message);
      if (receiptHandle !== undefined) this.#inFlight.delete(receiptHandle);
      this.#show(message);
    };
    if (receiptHandle !== undefined) this.#inFlight.set(receiptHandle, message);
    const delayMs = Math.min(maxDelayMs, Math.max(0, message.visibleAtMs - Date.now()));
    this.#hidden.set(message, setTimeout(show, delayMs));
  }

  #reveal(message: StoredMessage): void {
    clearTimeout(this.#hidden.get(message));
    this.#hidden.delete(message);
  }

  #show(message: StoredMessage): void {
    this.#ready.add(message);
    if (this.#waiters.size === 0 || this.#isServingSoon) return;
    this.#isServingSoon = true;
    // Messages that arrive at the same time go to the same receiver.
    setImmediate(() => {
      this.#isServingSoon = false;
      this.#serveWaiters();
    });
  }

  #serveWaiters(): void {
    for (const waiter of this.#waiters) {
      const received = this.#take(waiter.limit, waiter.visibilityTimeoutMs);
      if (received.length === 0) return;
      waiter.resolve(received);
    }
  }
}
