/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import type { NamespaceInfo } from "../../../src/client/results.ts";
import { count } from "../text/format.ts";
import { namespaceName } from "../text/namespace_name.ts";

/** Namespaces to choose from; `default` and the chosen one are there even while they are empty. */
export function NamespaceList(
  { namespaces, chosen, onChoose }: {
    /** `undefined` until they are known. */
    namespaces: readonly NamespaceInfo[] | undefined;
    chosen: string;
    onChoose: (namespace: string) => void;
  },
) {
  const counts = new Map(namespaces?.map((item) => [item.namespace, item.memory_count]));
  const names = [...new Set(["default", ...counts.keys(), chosen])];
  return (
    <nav aria-label="Namespaces">
      <ul class="namespaces">
        {names.map((name) => (
          <li key={name}>
            <button
              type="button"
              aria-current={name === chosen ? "true" : undefined}
              onClick={() => onChoose(name)}
            >
              <bdi class="exact">{namespaceName(name)}</bdi>
              {namespaces !== undefined && (
                <span class="count">
                  {(counts.get(name) ?? 0).toLocaleString("en")}
                  <span class="unseen">
                    {count(counts.get(name) ?? 0, " memory", " memories").replace(/^\S+/, "")}
                  </span>
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
