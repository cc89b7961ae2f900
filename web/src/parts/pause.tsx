/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";
import { Notice } from "./notice.tsx";

/** Says how long the relayer wants a pause before the next change. */
export function Pause({ until }: { until: number | undefined }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  if (until === undefined) return null;
  const seconds = Math.max(1, Math.ceil((until - now) / 1000));
  return (
    <Notice kind="warn">
      <p>
        Many changes in a short time. The next one goes on by itself in {seconds} s.
      </p>
    </Notice>
  );
}
