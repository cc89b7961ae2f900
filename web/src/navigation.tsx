/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

const CHANGED = "svc:navigated";

/** Shows another page without loading it anew. */
export function navigate(path: string): void {
  history.pushState(null, "", path);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

/** The path that is shown. */
export function usePath(): string {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const update = () => setPath(location.pathname);
    addEventListener("popstate", update);
    addEventListener(CHANGED, update);
    return () => {
      removeEventListener("popstate", update);
      removeEventListener(CHANGED, update);
    };
  }, []);
  return path;
}

/** A link to a page of the dashboard. */
export function Link(
  { to, children, current = false, className }: {
    to: string;
    children: ComponentChildren;
    current?: boolean;
    className?: string;
  },
) {
  return (
    <a
      href={to}
      {...(className === undefined ? {} : { class: className })}
      {...(current ? { "aria-current": "page" as const } : {})}
      onClick={(event) => {
        if (
          event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0
        ) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}
