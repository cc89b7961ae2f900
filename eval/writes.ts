import { shuffled, uniform } from "../bench/statistics.ts";
import { local } from "../plugins/local/mod.ts";
import { useLite } from "../plugins/use_lite/mod.ts";
import type { SvcClient } from "../src/client/client.ts";
import { DEFAULT_CONFIG } from "../src/interfaces/config.ts";
import { createRelayer, type Relayer } from "../src/relayer.ts";
import { print } from "./print.ts";

const HELP = `deno task eval writes [--held-out] [--misses]

  What is left of facts that are written five times (said, copied, echoed, reworded twice) on
  tests/testdata/writes, through a whole relayer: memories that are seen, facts that are lost, and
  facts that are found first by their question. By remember and by analyze without a model.
  --held-out   the held-out facts: at checkpoints, not while tuning
  --misses     of the tuning facts, what stays seen beside its fact, and what was hidden wrongly
`;

const KINDS = ["fact", "copy", "echo", "light", "strong"] as const;
type Kind = typeof KINDS[number];

interface Fact {
  readonly id: string;
  readonly fact: string;
  readonly paraphrases: readonly [string, string];
  readonly echo: string;
  readonly question: string;
}

interface WritesFile {
  readonly facts: readonly Fact[];
  readonly boot_files: readonly { readonly text: string; readonly changed: string }[];
}

/** A set of tests/testdata/writes. */
export async function readWrites(name: string): Promise<WritesFile> {
  const url = new URL(`../tests/testdata/writes/${name}.json`, import.meta.url);
  return JSON.parse(await Deno.readTextFile(url));
}

interface Write {
  readonly fact: Fact;
  readonly kind: Kind;
  readonly text: string;
}

/** Every wording of every fact, in an order drawn by chance. */
function writesOf(facts: readonly Fact[]): Write[] {
  const all = facts.flatMap((fact): Write[] => {
    const { paraphrases: [light, strong], echo } = fact;
    const texts = { fact: fact.fact, copy: fact.fact, echo, light, strong };
    return KINDS.map((kind) => ({ fact, kind, text: texts[kind] }));
  });
  return shuffled(all, uniform(1));
}

/** A relayer in this process, and the account that writes. */
interface Writer {
  readonly relayer: Pick<Relayer, "idle">;
  readonly client: SvcClient;
}

/** Saves a text and waits until it is stored; answers ids of its memories. */
type Save = (writer: Writer, namespace: string, text: string) => Promise<string[]>;

const remember: Save = async ({ relayer, client }, namespace, text) => {
  const { memory_id } = await client.remember(text, { namespace });
  await relayer.idle();
  return [memory_id];
};

const analyze: Save = async ({ relayer, client }, namespace, text) => {
  const { facts } = await client.analyze(text, { namespace });
  await relayer.idle();
  return facts.map(({ memory_id }) => memory_id);
};

/** The memories of a namespace that are seen, each with what it says. */
async function seenIn(client: SvcClient, namespace: string): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const page = await client.memories({ namespace, limit: 200, ...cursor ? { cursor } : {} });
    for (const { memory_id, text = "" } of page.memories) seen.set(memory_id, text);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return seen;
}

/** What five wordings of each fact came to. */
export interface WritesResult {
  readonly writes: number;
  readonly facts: number;
  readonly seen: number;
  /** Memories that are seen beside the first of their fact, by what they are. */
  readonly extra: ReadonlyMap<Kind, number>;
  /** Facts of which nothing is seen although something was stored. */
  readonly lost: readonly string[];
  /** Facts of which nothing was ever stored: analyze found none in them. */
  readonly unsaid: number;
  /** Memories that are hidden behind one of another fact. */
  readonly wrong: readonly string[];
  /** Facts found first by their question. */
  readonly first: number;
  /** What is seen although its fact is seen already. */
  readonly repeated: readonly string[];
}

async function measured(
  writer: Writer,
  namespace: string,
  facts: readonly Fact[],
  save: Save,
): Promise<WritesResult> {
  /** Writes by the memory they came to. */
  const written = new Map<string, Write[]>();
  const wrong: string[] = [];
  const { client } = writer;
  const writes = writesOf(facts);
  for (const write of writes) {
    // What is echoed was recalled before.
    if (write.kind === "echo") await client.recall(write.fact.question, { namespace, limit: 5 });
    for (const id of await save(writer, namespace, write.text)) {
      const there = written.getOrInsertComputed(id, () => []);
      if (there.some(({ fact }) => fact !== write.fact)) wrong.push(write.text);
      there.push(write);
    }
  }
  const seen = await seenIn(client, namespace);
  const history = await client.memories({ namespace, limit: 1, include: "history" });
  if (history.total < seen.size) throw new Error("a memory is missing");
  for (const [id, [write]] of written) {
    if (seen.has(id)) continue;
    const { restates = "", superseded_by = "" } = await client.memory(id);
    const stands = written.get(restates || superseded_by)?.[0];
    if (stands?.fact !== write!.fact) wrong.push(`${write!.text} | ${stands?.text}`);
  }
  const shown = new Map<Fact, Write[]>();
  for (const [id, [write]] of written) {
    if (seen.has(id)) shown.getOrInsertComputed(write!.fact, () => []).push(write!);
  }
  const said = new Set([...written.values()].flat().map(({ fact }) => fact));
  const extra = new Map<Kind, number>();
  const repeated: string[] = [];
  for (const [, [first, ...more]] of shown) {
    for (const { kind, text } of more) {
      extra.set(kind, (extra.get(kind) ?? 0) + 1);
      repeated.push(`${first!.text} | ${text}`);
    }
  }
  return {
    writes: writes.length,
    facts: facts.length,
    seen: seen.size,
    extra,
    lost: facts.filter((fact) => said.has(fact) && !shown.has(fact)).map(({ fact }) => fact),
    unsaid: facts.length - said.size,
    wrong,
    first: await foundFirst(client, namespace, facts, (id) => written.get(id)?.[0]?.fact),
    repeated,
  };
}

/** How many facts are the first that their question finds. */
async function foundFirst(
  client: SvcClient,
  namespace: string,
  facts: readonly Fact[],
  factOf: (id: string) => Fact | undefined,
): Promise<number> {
  let first = 0;
  for (const fact of facts) {
    const { results: [hit] } = await client.recall(fact.question, { namespace, limit: 1 });
    if (hit !== undefined && factOf(hit.memory_id) === fact) first++;
  }
  return first;
}

/** How many facts are found first where each was written once. */
async function foundAlone({ relayer, client }: Writer, facts: readonly Fact[]): Promise<number> {
  const namespace = "alone";
  const ids = new Map<string, Fact>();
  for (const fact of facts) {
    const { memory_id } = await client.remember(fact.fact, { namespace, deduplicate: false });
    await relayer.idle();
    ids.set(memory_id, fact);
  }
  return await foundFirst(client, namespace, facts, (id) => ids.get(id));
}

/** Of long texts that are sent twice and then changed, how many are seen once, as changed. */
async function bootFilesKept(
  writer: Writer,
  files: WritesFile["boot_files"],
): Promise<{ readonly seen: number; readonly right: number; readonly files: number }> {
  const namespace = "boot";
  for (const { text } of files) for (let i = 0; i < 2; i++) await remember(writer, namespace, text);
  for (const { changed } of files) await remember(writer, namespace, changed);
  const seen = [...(await seenIn(writer.client, namespace)).values()];
  const right = files.filter(({ changed, text }) => seen.includes(changed) && !seen.includes(text));
  return { seen: seen.length, right: right.length, files: files.length };
}

/** What the writes of a file come to. */
export async function measureWrites(name: string): Promise<{
  readonly alone: number;
  readonly remembered: WritesResult;
  readonly analyzed: WritesResult;
  readonly boot: Awaited<ReturnType<typeof bootFilesKept>>;
}> {
  const { facts, boot_files } = await readWrites(name);
  await using relayer = await open();
  const writer = { relayer, client: await relayer.account("writer") };
  return {
    alone: await foundAlone(writer, facts),
    remembered: await measured(writer, "remembered", facts, remember),
    analyzed: await measured(writer, "analyzed", facts, analyze),
    boot: await bootFilesKept(writer, boot_files),
  };
}

async function open(): Promise<Relayer> {
  const dataDir = await Deno.makeTempDir();
  const relayer = await createRelayer({
    dataDir,
    relayerKey: crypto.getRandomValues(new Uint8Array(32)),
    config: { rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true } },
    backends: [local(), useLite()],
  });
  const dispose = relayer[Symbol.asyncDispose].bind(relayer);
  return Object.assign(relayer, {
    [Symbol.asyncDispose]: async () => {
      await dispose();
      await Deno.remove(dataDir, { recursive: true });
    },
  });
}

function lines(way: string, result: WritesResult): string[] {
  const { writes, facts, seen, extra, lost, unsaid, wrong, first } = result;
  const by = KINDS.map((kind) => `${kind} ${extra.get(kind) ?? 0}`).join(", ");
  return [
    `  by ${way}: ${writes} writes of ${facts} facts are ${seen} memories`,
    `    seen beside their fact: ${by}`,
    `    lost: ${lost.length} facts; hidden behind another fact: ${wrong.length} writes` +
    (unsaid === 0 ? "" : `; nothing found to save in ${unsaid} facts`),
    `    found first: ${first} of ${facts}`,
  ];
}

/** Prints what is left of repeated writes; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.some((arg) => !["--held-out", "--misses"].includes(arg))) {
    print(HELP);
    return args.includes("--help") ? 0 : 2;
  }
  for (const name of args.includes("--held-out") ? ["held_out"] : ["tuning"]) {
    const { alone, remembered, analyzed, boot } = await measureWrites(name);
    print(
      `Writes, ${name}: facts found first where each is written once: ${alone}`,
      ...lines("remember", remembered),
      ...lines("analyze", analyzed),
      `  long texts sent twice and then changed: ${boot.files}, seen ${boot.seen}, ` +
        `seen as changed ${boot.right}`,
    );
    if (args.includes("--misses") && name === "tuning") {
      print(...remembered.repeated.map((text) => `  seen: ${text}`));
      for (const { wrong, lost } of [remembered, analyzed]) {
        print(...wrong.map((text) => `  wrong: ${text}`), ...lost.map((text) => `  lost: ${text}`));
      }
    }
  }
  return 0;
}
