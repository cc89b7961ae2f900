/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { useEffect, useRef, useState } from "preact/hooks";
import type { FoundInFile, Group } from "../../importers/answer.ts";
import { Failure } from "../../parts/notice.tsx";
import { count } from "../../text/format.ts";
import { namespaceName } from "../../text/namespace_name.ts";
import type { ReadFile, ReadFiles } from "./read_files.ts";

/** Memories that are shown as examples, and characters of each. */
const EXAMPLES = 3;
const EXAMPLE = 140;

/** What files are called that other products write. */
const FORMATS: Readonly<Record<string, string>> = {
  mem0: "mem0",
  "mcp-memory": "the MCP server “memory”",
  chatgpt: "ChatGPT",
  claude: "Claude",
  "claude-code": "Claude Code",
  "basic-memory": "basic-memory",
  markdown: "notes in Markdown",
  "svc-markdown": "a memory of svc as Markdown",
};

function Groups({ title, groups }: { title: string; groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <div>
      <p>{title}</p>
      <ul class="points small-text">
        {groups.map(({ words, count: number, places }) => (
          <li key={words}>
            {number.toLocaleString("en")}: {words} (<span class="quiet">
              {places.join(", ")}
              {number > places.length && ", …"}
            </span>)
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How many memories and conversations something has, in words. */
function amount(memories: number, conversations: number): string {
  return [
    ...memories > 0 ? [count(memories, "memory", "memories")] : [],
    ...conversations > 0 ? [count(conversations, "conversation", "conversations")] : [],
  ].join(" and ");
}

function Examples({ lines }: { lines: FoundInFile["memories"] }) {
  return (
    <ul class="points">
      {lines.slice(0, EXAMPLES).map(({ text }, i) => (
        <li key={i} class="text" dir="auto">
          {String(text).slice(0, EXAMPLE)}
          {String(text).length > EXAMPLE && "…"}
        </li>
      ))}
    </ul>
  );
}

function Found({ found }: { found: FoundInFile }) {
  const { format, entries, memories, conversations, turns, skipped, notes } = found;
  const parts = conversations.reduce((sum, { texts }) => sum + texts.length, 0);
  return (
    <>
      <p>
        Recognised as <strong>{FORMATS[format] ?? format}</strong>:{" "}
        {amount(memories.length, conversations.length)}, out of{" "}
        {count(entries, "entry", "entries")}.
      </p>
      {memories.length > 0 && <Examples lines={memories} />}
      {conversations.length > 0 && (
        <p class="quiet small-text">
          {count(turns, "message is", "messages are")} read for facts by the relayer, in{" "}
          {count(parts, "request", "requests")}, one after the other. Importing them again reads
          them again.
        </p>
      )}
      <Groups title="Not taken:" groups={skipped} />
      <Groups title="Taken, but not whole:" groups={notes} />
    </>
  );
}

function FileFound({ file: { name, found, lines, error } }: { file: ReadFile }) {
  return (
    <section class="stack" aria-label={name}>
      <h4 class="exact">{name}</h4>
      {found !== undefined && <Found found={found} />}
      {lines !== undefined && <p>{amount(lines.items.length, 0) || "No memory"}, line by line.</p>}
      <Failure error={error} />
    </section>
  );
}

/** Where memories go that name a namespace. */
function Where({ namespace, namespaces, isAllInto, onChange }: {
  namespace: string;
  namespaces: readonly string[];
  isAllInto: boolean;
  onChange: (isAllInto: boolean) => void;
}) {
  const names = namespaces.slice(0, 5).map(namespaceName).join(", ");
  return (
    <fieldset>
      <legend>Where they go</legend>
      <label class="choice">
        <input type="radio" name="where" checked={!isAllInto} onChange={() => onChange(false)} />
        <span>
          where the file says: <span class="exact">{names}</span>
          {namespaces.length > 5 && ", …"}
        </span>
      </label>
      <label class="choice">
        <input type="radio" name="where" checked={isAllInto} onChange={() => onChange(true)} />
        <span>
          all into <span class="exact">{namespaceName(namespace)}</span>
        </span>
      </label>
    </fieldset>
  );
}

/** What was found in files, before anything is imported. */
export function Preview({ read, namespace, onImport, onAsText, onClose }: {
  read: ReadFiles;
  namespace: string;
  onImport: (isAllInto: boolean) => void;
  /** Takes the file for a text with a memory on each line; absent where that makes no sense. */
  onAsText: (() => void) | undefined;
  onClose: () => void;
}) {
  const title = useRef<HTMLHeadingElement>(null);
  const [isAllInto, setAllInto] = useState(false);
  const { files, namespaces } = read;
  useEffect(() => title.current?.focus(), [read]);
  const memories = files.reduce(
    (sum, { lines, found }) => sum + (lines?.items.length ?? 0) + (found?.memories.length ?? 0),
    0,
  );
  const conversations = files.reduce(
    (sum, { found }) => sum + (found?.conversations.length ?? 0),
    0,
  );
  return (
    <section class="preview stack" aria-label="Before the import">
      <h3 ref={title} tabIndex={-1}>Nothing is imported yet</h3>
      {files.map((file) => <FileFound key={file.name} file={file} />)}
      {namespaces.length > 0 && (
        <Where
          namespace={namespace}
          namespaces={namespaces}
          isAllInto={isAllInto}
          onChange={setAllInto}
        />
      )}
      <div class="row">
        {memories + conversations > 0 && (
          <button
            type="button"
            class="button primary"
            onClick={() => onImport(isAllInto)}
          >
            Import {amount(memories, conversations)}
          </button>
        )}
        {onAsText !== undefined && (
          <button type="button" class="button" onClick={onAsText}>
            Take each line as a memory instead
          </button>
        )}
        <button type="button" class="button" onClick={onClose}>Cancel</button>
      </div>
    </section>
  );
}
