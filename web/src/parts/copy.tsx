/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useState } from "preact/hooks";

/** Copies a text; says so for two seconds. */
export function CopyButton(
  { text, label = "Copy" }: { text: string; label?: string },
) {
  const [done, setDone] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (done === "") return;
    const timer = setTimeout(() => setDone(""), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setDone("copied"),
      () => setDone("failed"),
    );
  return (
    <button type="button" class="button small" onClick={copy}>
      <span aria-live="polite">
        {done === "copied" ? "Copied" : done === "failed" ? "Select and copy by hand" : label}
      </span>
    </button>
  );
}

/** A text to be pasted elsewhere. */
export function Snippet({ text, name }: { text: string; name: string }) {
  return (
    <div class="snippet">
      <pre tabIndex={0} aria-label={name}><code>{text}</code></pre>
      <CopyButton text={text} />
    </div>
  );
}
