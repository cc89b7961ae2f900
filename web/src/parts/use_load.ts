import { useCallback, useEffect, useRef, useState } from "preact/hooks";

/** Pause after a load that failed, where it is repeated, milliseconds. */
const AFTER_FAILURE_MS = 5000;

/** Something that is loaded. */
export interface Loaded<T> {
  /** The newest value. */
  readonly value: T | undefined;
  /** Why the newest attempt failed. */
  readonly error: unknown;
  /** Loads again; what is shown stays until then. */
  readonly reload: () => Promise<void>;
}

/**
 * Loads something when `key` changes, and every so often while the page is shown.
 *
 * @param load Fetches it.
 * @param key What it depends on.
 * @param everyMs Pause between loads; absent: once.
 */
export function useLoad<T>(
  load: () => Promise<T>,
  key: string,
  everyMs?: number,
): Loaded<T> {
  const [state, setState] = useState<
    { key: string; value?: T; error?: unknown }
  >({ key });
  const newest = useRef(load);
  newest.current = load;
  const current = useRef(key);
  current.current = key;
  const failed = useRef(false);
  const reload = useCallback(async () => {
    const asked = current.current;
    try {
      const value = await newest.current();
      failed.current = false;
      if (current.current === asked) setState({ key: asked, value });
    } catch (error) {
      failed.current = true;
      if (current.current !== asked) return;
      setState((before) => before.key === asked ? { ...before, error } : { key: asked, error });
    }
  }, []);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    function plan(): void {
      if (over || everyMs === undefined) return;
      timer = setTimeout(turn, failed.current ? Math.min(everyMs, AFTER_FAILURE_MS) : everyMs);
    }
    async function turn(): Promise<void> {
      if (document.visibilityState === "visible") await reload();
      plan();
    }
    void reload().then(plan);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key, everyMs, reload]);
  const fits = state.key === key;
  return {
    value: fits ? state.value : undefined,
    error: fits ? state.error : undefined,
    reload,
  };
}
