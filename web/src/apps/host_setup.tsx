/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useState } from "preact/hooks";
import { CopyButton, Snippet } from "../parts/copy.tsx";
import { Notice } from "../parts/notice.tsx";
import { HOST_CONFIGS, KEY_PLACEHOLDER } from "./host_configs.ts";
import type { MadeKey } from "./new_key.tsx";

/** What an app is given that sends a single header. */
function MadeToken({ made: { label, token, days } }: { made: MadeKey }) {
  if (token === undefined) return null;
  return (
    <>
      <p>
        An app that takes one header only gets this token instead, as{" "}
        <code>Authorization: Bearer …</code>. It works for {days === 1 ? "a day" : `${days} days`}
        {" "}
        at most, and ends with the key.
      </p>
      <p class="secret" tabIndex={0} aria-label={`Token of ${label}`}>{token}</p>
      <CopyButton text={token} label="Copy the token" />
    </>
  );
}

/** How each app is told about the relayer, with the key that was just made. */
export function HostSetup(
  { mcpUrl, accountId, made }: { mcpUrl: string; accountId: string; made: MadeKey | undefined },
) {
  const [name, setName] = useState(HOST_CONFIGS[0]!.name);
  const host = HOST_CONFIGS.find((item) => item.name === name) ?? HOST_CONFIGS[0]!;
  const key = made?.privateKey ?? KEY_PLACEHOLDER;
  return (
    <div class="stack">
      {made === undefined
        ? (
          <p class="quiet">
            Put the app's key where <code>{KEY_PLACEHOLDER}</code> stands. Make one first.
          </p>
        )
        : (
          <Notice kind="good">
            <p>
              The key of {made.label} is ready. It is shown this once: copy it, or a text below.
            </p>
            <p class="secret" tabIndex={0} aria-label={`Key of ${made.label}`}>{key}</p>
            <CopyButton text={key} label="Copy the key" />
            <MadeToken made={made} />
          </Notice>
        )}
      <label>
        App
        <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
          {HOST_CONFIGS.map((item) => <option key={item.name} value={item.name}>{item.name}
          </option>)}
        </select>
      </label>
      <p>{host.where}</p>
      <Snippet
        text={host.text({ mcpUrl, accountId, key })}
        name={`Configuration of ${host.name}`}
      />
    </div>
  );
}
