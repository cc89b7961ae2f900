import { useLiteEmbedder } from "../plugins/use_lite/mod.ts";
import { SvcClient } from "../src/client/mod.ts";
import { SvcError } from "../src/errors.ts";
import { DataFolder } from "./data_folder.ts";
import type { Part } from "./figures.ts";
import { fill, sentence } from "./fill.ts";
import { startRelayer } from "./relayer_process.ts";
import type { ServerProcess } from "./server_process.ts";

const MEMORIES = 100_000;
const LINES = 200;
/** Requests of an import on their way at once. */
const IN_FLIGHT = 3;
/** Parts of the memories after which the importing relayer is killed. */
const KILLS = [0.2, 0.45, 0.7];
/** As where nothing else is set: what is accepted waits in memory. */
const FEW_PENDING = { SVC_MAX_PENDING_JOBS: "10000" };
const EMBEDDED = 4_096;
/** How often memory is looked at, milliseconds. */
const SAMPLE_MS = 100;

function clientOf({ port }: ServerProcess, { key, account }: DataFolder): SvcClient {
  const { seed: privateKey } = key;
  const { accountId } = account;
  const baseUrl = `http://127.0.0.1:${port}`;
  return new SvcClient({ baseUrl, privateKey, accountId, timeoutMs: 120_000 });
}

/** Does something and answers how much memory the relayer took beyond what it had, MiB. */
async function grownBy(relayer: ServerProcess, work: () => Promise<void>): Promise<number> {
  const before = await relayer.ownMiB();
  let most = before;
  const timer = setInterval(async () => {
    most = Math.max(most, await relayer.ownMiB().catch(() => 0));
  }, SAMPLE_MS);
  await work();
  clearInterval(timer);
  return most - before;
}

/** Every memory of an export by its id, without what belongs to the relayer. */
async function exported(client: SvcClient): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let isWhole = false;
  for await (const line of client.exportMemories()) {
    if (line.type === "end") isWhole = true;
    if (line.type !== "memory") continue;
    const { source: _, written_by: __, written_by_label: ___, ...kept } = line;
    found.set(String(line.memory_id), JSON.stringify(kept));
  }
  if (!isWhole) throw new Error("the export broke off");
  return found;
}

/** Sends a part, again where too much waits; answers whether it was taken. */
async function sent(client: SvcClient, lines: string): Promise<boolean> {
  for (;;) {
    try {
      await client.importMemories(lines);
      return true;
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== "overloaded") return false;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
}

/** Imports lines; ends early where the relayer dies. */
async function imported(client: SvcClient, lines: readonly string[]): Promise<boolean> {
  let next = 0;
  async function worker(): Promise<boolean> {
    while (next < lines.length) {
      const batch = lines.slice(next, next += LINES);
      if (!await sent(client, batch.join("\n"))) return false;
    }
    return true;
  }
  return (await Promise.all(Array.from({ length: IN_FLIGHT }, worker))).every(Boolean);
}

/** Waits until everything accepted is recallable. */
async function settled(client: SvcClient): Promise<void> {
  while ((await client.stats()).pending > 0) await new Promise((done) => setTimeout(done, 200));
}

async function embeddedPerSecond(): Promise<number> {
  await using embedder = useLiteEmbedder();
  const texts = Array.from({ length: EMBEDDED }, (_, i) => sentence(i));
  await embedder.embed(texts.slice(0, 256), { purpose: "document" });
  const start = performance.now();
  for (let i = 0; i < EMBEDDED; i += 256) {
    await embedder.embed(texts.slice(i, i + 256), { purpose: "document" });
  }
  return EMBEDDED / (performance.now() - start) * 1000;
}

/** Out of one relayer and into another, which is killed three times on the way. */
export const portablePart: Part = {
  name: "portable",
  title: `portable: export and import of ${MEMORIES.toLocaleString("en")} memories`,
  async run(note) {
    const perSecond = await embeddedPerSecond();
    await using from = await DataFolder.make();
    note("filling");
    await fill(from, { default: MEMORIES });
    let all = new Map<string, string>();
    let exportMs = 0;
    let exportMiB = 0;
    {
      await using relayer = await startRelayer(from);
      const client = clientOf(relayer, from);
      await client.recall("tea");
      note("exporting");
      exportMiB = await grownBy(relayer, async () => {
        const start = performance.now();
        all = await exported(client);
        exportMs = performance.now() - start;
      });
    }
    const lines = [...all.values()];
    note("importing");
    await using whole = await DataFolder.make();
    let importMs = 0;
    let importMiB = 0;
    {
      await using relayer = await startRelayer(whole, FEW_PENDING);
      importMiB = await grownBy(relayer, async () => {
        const client = clientOf(relayer, whole);
        const start = performance.now();
        await imported(client, lines);
        await settled(client);
        importMs = performance.now() - start;
      });
      if (!isSame(all, await exported(clientOf(relayer, whole)))) throw new Error("not the same");
    }
    await using cut = await DataFolder.make();
    for (const part of KILLS) {
      note(`importing until it is killed at ${part}`);
      await using relayer = await startRelayer(cut, FEW_PENDING);
      const client = clientOf(relayer, cut);
      await imported(client, lines.slice(0, Math.floor(part * lines.length)));
      await relayer[Symbol.asyncDispose]();
    }
    await using relayer = await startRelayer(cut, FEW_PENDING);
    const client = clientOf(relayer, cut);
    await imported(client, lines);
    await settled(client);
    const same = isSame(all, await exported(client)) ? 1 : 0;
    return [
      { name: "export", value: all.size / exportMs * 1000, unit: "/s" },
      {
        name: "export, memory of the relayer",
        value: exportMiB,
        unit: "MiB",
        goal: { atMost: 200 },
      },
      { name: "import until all is recallable", value: all.size / importMs * 1000, unit: "/s" },
      {
        name: "import, memory of the relayer",
        value: importMiB,
        unit: "MiB",
        goal: { atMost: 200 },
      },
      { name: "embedder alone", value: perSecond, unit: "/s" },
      {
        name: "import beside the embedder alone",
        value: all.size / importMs * 1000 / perSecond,
        unit: "x",
        goal: { atLeast: 0.9 },
      },
      { name: "killed three times, identical", value: same, unit: "", goal: { atLeast: 1 } },
    ];
  },
};

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  if (one.size !== other.size) return false;
  return one.entries().every(([id, line]) => other.get(id) === line);
}
