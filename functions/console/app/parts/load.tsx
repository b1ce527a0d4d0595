import type { ComponentChildren, JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import type { Page } from "../../../../shared/contract/primitives.ts";
import { Problem } from "./notice.tsx";

export interface Load<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Reads once more; what is there stays until then. */
  readonly reload: () => Promise<void>;
  /** Takes what an operation has answered, without reading once more. */
  readonly replace: (data: Data) => void;
}

/** Reads what a view shows, again whenever one of `inputs` is another. */
export function useLoad<Data>(read: () => Promise<Data>, inputs: readonly unknown[]): Load<Data> {
  const [state, setState] = useState<Pick<Load<Data>, "data" | "error" | "isLoading">>({
    data: undefined,
    error: undefined,
    isLoading: true,
  });
  const newest = useRef(0);
  const reload = useCallback(async () => {
    newest.current += 1;
    const turn = newest.current;
    setState(({ data }) => ({ data, error: undefined, isLoading: true }));
    try {
      const data = await read();
      if (turn === newest.current) setState({ data, error: undefined, isLoading: false });
    } catch (error) {
      if (turn === newest.current) setState(({ data }) => ({ data, error, isLoading: false }));
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

/** Shows what was read, or that it is being read, or why it could not be. */
export function Loaded<Data>({
  load,
  children,
}: {
  load: Load<Data>;
  children: (data: Data) => ComponentChildren;
}): JSX.Element {
  const { data, error, isLoading, reload } = load;
  return (
    <>
      {error === undefined ? null : <Problem error={error} onRetry={() => void reload()} />}
      {data === undefined && isLoading ? <Waiting /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}

/** That something takes a moment. */
export function Waiting({ what = "Loading" }: { what?: string }): JSX.Element {
  return (
    <p class="loading" role="status">
      <progress aria-label={what} /> {what}…
    </p>
  );
}

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  readonly nextCursor: string | undefined;
}

export interface Pages<Row> extends Load<Rows<Row>> {
  /** Reads the next page behind those that are there. */
  readonly more: () => Promise<void>;
}

type ReadPage<Row> = (query: { limit: number; cursor?: string }) => Promise<Page<Row>>;

const rowsPerPage = 25;

/** Reads a list page by page. */
export function usePages<Row>(readPage: ReadPage<Row>, inputs: readonly unknown[]): Pages<Row> {
  const load = useLoad(async () => rowsOf(await readPage({ limit: rowsPerPage })), inputs);
  const [isReadingMore, setReadingMore] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  const more = async (): Promise<void> => {
    const { data } = load;
    if (data?.nextCursor === undefined || load.isLoading || isReadingMore) return;
    setReadingMore(true);
    setProblem(undefined);
    try {
      const next = rowsOf(await readPage({ limit: rowsPerPage, cursor: data.nextCursor }));
      load.replace({ ...next, total: data.total, rows: [...data.rows, ...next.rows] });
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
  };
}

function rowsOf<Row>({ rows, meta }: Page<Row>): Rows<Row> {
  return { rows, total: meta.total, nextCursor: meta.nextCursor };
}

/** Looks again and again while something is under way, as long as the page is seen. */
export function usePolling(isUnderWay: boolean, look: () => Promise<void>, everyMs = 2_000): void {
  useEffect(() => {
    if (!isUnderWay) return undefined;
    // A look that takes longer than the pause is allowed to finish: another would only take its place.
    let isLooking = false;
    const lookAgain = async (): Promise<void> => {
      if (isLooking || document.visibilityState !== "visible") return;
      isLooking = true;
      await look();
      isLooking = false;
    };
    const timer = setInterval(() => void lookAgain(), everyMs);
    return () => clearInterval(timer);
  }, [isUnderWay, look]);
}
