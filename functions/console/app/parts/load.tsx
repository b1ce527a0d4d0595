import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { everyRow } from "../../../../shared/api/client/client.ts";
import type { Page } from "../../../../shared/api/contract/primitives.ts";
import { Problem } from "./notice.tsx";

export interface Load<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Reads again and keeps the current data until then. */
  readonly reload: () => Promise<void>;
  /** Shows the response of an operation without reading again. */
  readonly replace: (data: Data) => void;
}

/** Reads the data of a view, and again when `inputs` change. */
export function useLoad<Data>(read: () => Promise<Data>, inputs: readonly unknown[]): Load<Data> {
  const [state, setState] = useState<Pick<Load<Data>, "data" | "error" | "isLoading">>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const newest = useRef(0);
  const reload = useCallback(async () => {
    newest.current += 1;
    const attempt = newest.current;
    setState(({ data }) => ({ data, error: undefined, isLoading: true }));
    try {
      const data = await read();
      if (attempt === newest.current) setState({ data, error: undefined, isLoading: false });
    } catch (error) {
      if (attempt === newest.current) setState(({ data }) => ({ data, error, isLoading: false }));
    }
  }, inputs);
  useEffect(() => {
    void reload();
    return () => {
      newest.current += 1;
    };
  }, [reload]);
  const replace = useCallback((data: Data) => {
    newest.current += 1;
    setState({ data, error: undefined, isLoading: false });
  }, []);
  return { ...state, reload, replace };
}

/** Shows the data, a loading state or the error. */
export function Loaded<Data>({
  load,
  children,
}: {
  load: Load<Data>;
  children: (data: Data) => ComponentChildren;
}) {
  const { data, error, isLoading, reload } = load;
  return (
    <>
      {error === undefined ? null : <Problem error={error} onRetry={() => void reload()} />}
      {data === undefined && isLoading ? <Waiting /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}

export function Waiting({ what = "Loading…" }: { what?: string }) {
  return (
    <p class="row muted" role="status">
      <progress aria-label={what} /> {what}
    </p>
  );
}

export interface Pages<Row> extends Load<Page<Row>> {
  /** Reads the next page. */
  readonly more: () => Promise<void>;
  /** Reads all rows of the list again, also those that are not loaded yet. */
  readonly everyRow: () => AsyncIterable<Row>;
}

type ReadPage<Row> = (query: { limit: number; cursor?: string }) => Promise<Page<Row>>;

export const rowsPerPage = 25;

/** A filter may find little in what a request reads. The next ones follow until a page is full, or this many were read. */
const maxReads = 20;

async function readFullPage<Row>(readPage: ReadPage<Row>, cursor?: string): Promise<Page<Row>> {
  const rows: Row[] = [];
  let next = cursor;
  for (let reads = 1; ; reads += 1) {
    const page = await readPage({ limit: rowsPerPage, ...(next === undefined ? {} : { cursor: next }) });
    rows.push(...page.rows);
    next = page.meta.nextCursor;
    if (next === undefined || rows.length >= rowsPerPage || reads === maxReads) {
      return { rows, meta: { ...page.meta, total: Math.max(page.meta.total, rows.length) } };
    }
  }
}

export function usePages<Row>(readPage: ReadPage<Row>, inputs: readonly unknown[]): Pages<Row> {
  const load = useLoad(async () => readFullPage(readPage), inputs);
  const [isReadingMore, setReadingMore] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const more = async (): Promise<void> => {
    const { data } = load;
    const cursor = data?.meta.nextCursor;
    if (data === undefined || cursor === undefined || load.isLoading || isReadingMore) return;
    setReadingMore(true);
    setProblem(undefined);
    try {
      const { rows, meta } = await readFullPage(readPage, cursor);
      load.replace({ rows: [...data.rows, ...rows], meta: { ...meta, total: data.meta.total } });
    } catch (error) {
      setProblem(error);
    } finally {
      setReadingMore(false);
    }
  };
  return {
    ...load,
    error: load.error ?? problem,
    isLoading: load.isLoading || isReadingMore,
    more,
    everyRow: () => everyRow(async (next) => readPage({ limit: 100, ...next })),
  };
}

/** A page that no one uses for this long stops polling, so that its polls do not renew the session. */
const unusedMs = 30 * 60_000;
let lastInputMs = Date.now();
for (const input of ["keydown", "pointerdown"]) {
  addEventListener(input, () => (lastInputMs = Date.now()), { capture: true, passive: true });
}

/** Polls while something is in progress, and the page is visible and used. */
export function usePolling(isUnderWay: boolean, poll: () => Promise<void>, everyMs = 2_000): void {
  useEffect(() => {
    if (!isUnderWay) return undefined;
    // A slow read is allowed to finish before the next one starts.
    let isPolling = false;
    const pollAgain = async (): Promise<void> => {
      const isUsed = document.visibilityState === "visible" && Date.now() - lastInputMs < unusedMs;
      if (isPolling || !isUsed) return;
      isPolling = true;
      await poll();
      isPolling = false;
    };
    const timer = setInterval(() => void pollAgain(), everyMs);
    return () => clearInterval(timer);
  }, [isUnderWay, poll, everyMs]);
}
