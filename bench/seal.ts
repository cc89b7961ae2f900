/**
 * The seal cipher, its key servers in another process: what sealing and opening take, and how long
 * the event loop stands still meanwhile. Also by itself: `deno run -A bench/seal.ts`.
 */
import { SealCipher } from "../plugins/sui/seal/cipher.ts";
import type { KeyWorkOptions } from "../plugins/sui/seal/calls.ts";
import { WorkerCalls } from "../plugins/sui/seal/worker_calls.ts";
import type { DecryptCredential, Sealed } from "../src/interfaces/mod.ts";
import type { KeyStore, WrappedKey } from "../src/interfaces/plugin.ts";
import { type Figure, type Part, tableText } from "./figures.ts";
import { startNetwork } from "./network_process.ts";
import { median } from "./statistics.ts";

const HITS = 100;
const ROUNDS = 30;
const SCOPES = 20;
const PERIOD_MS = 5 * 60_000;
/** A memory of usual length. */
const TEXT = new TextEncoder().encode("I moved to Lisbon last spring. ".repeat(10));

interface Told {
  readonly options: KeyWorkOptions;
  readonly accountId: string;
  readonly credential: DecryptCredential;
}

/** Wrapped keys in memory. */
class Keys implements KeyStore {
  readonly #kept = new Map<string, WrappedKey>();
  put(key: WrappedKey): void {
    this.#kept.set(key.keyId, key);
  }
  get(keyId: string): WrappedKey | undefined {
    return this.#kept.get(keyId);
  }
  newest(): undefined {}
  generation(): number {
    return 1;
  }
  nextGeneration(): number {
    return 2;
  }
  delete(keyId: string): void {
    this.#kept.delete(keyId);
  }
}

/** CPU time of the thread that runs the event loop, milliseconds; what else runs does not count. */
async function mainThreadMs(): Promise<number> {
  const path = `/proc/${Deno.pid}/task/${Deno.pid}/schedstat`;
  return Number((await Deno.readTextFile(path)).split(" ", 1)[0]) / 1e6;
}

/** Milliseconds of a call, and the longest time in it that the event loop let nobody in. */
async function timed(call: () => Promise<unknown>): Promise<{ ms: number; lag: number }> {
  let lag = 0;
  let last = performance.now();
  const tick = () => {
    const now = performance.now();
    lag = Math.max(lag, now - last - 1);
    last = now;
  };
  const ticking = setInterval(tick, 1);
  const start = performance.now();
  await call();
  const ms = performance.now() - start;
  tick();
  clearInterval(ticking);
  return { ms, lag };
}

async function times(rounds: number, call: () => Promise<unknown>): Promise<number> {
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await call();
    found.push(performance.now() - start);
  }
  return median(found);
}

async function measure(note: (text: string) => void): Promise<Figure[]> {
  note("starting key servers");
  await using network = await startNetwork<Told>("bench/servers/seal_network.ts");
  const { options, accountId, credential } = network;
  const clock = { now: Date.now() };
  const work = new WorkerCalls(options);
  const now = () => clock.now;
  await using cipher = new SealCipher({ keys: new Keys(), work, servers: options, now });
  const scope = { accountId, owner: accountId, namespace: "notes" };
  const seal = (namespace: string, memoryId = "m") =>
    cipher.seal(TEXT, { ...scope, namespace, memoryId });
  const open = async (hits: readonly Sealed[]) => {
    const items = hits.map((hit, i) => ({ memoryId: `${i}`, record: hit.record }));
    const results = await cipher.open(items, { ...scope, credential });
    if (results.some(({ status }) => status === "rejected")) throw new Error("a hit did not open");
  };

  note("sealing");
  const first = await timed(() => seal("notes"));
  const again = await times(ROUNDS, () => seal("notes"));
  const before = await mainThreadMs();
  const scopes = await timed(() =>
    Promise.all(Array.from({ length: SCOPES }, (_, i) => seal(`scope ${i}`)))
  );
  const busy = await mainThreadMs() - before;
  const hits = await Promise.all(
    Array.from({ length: HITS }, (_, i) => seal("notes", `${i}`)),
  );
  note("opening");
  await open(hits);
  const cached = await times(ROUNDS, () => open(hits));
  cipher.accountChanged(accountId);
  const cold = await timed(() => open(hits));

  const spread: Sealed[] = [];
  for (let i = 0; i < HITS; i++) {
    clock.now += PERIOD_MS;
    spread.push(await seal("notes", `${i}`));
  }
  cipher.accountChanged(accountId);
  const apart = await timed(() => open(spread));
  const lag = Math.max(scopes.lag, cold.lag, apart.lag);
  return [
    { name: "first seal of a process, no credential", value: first.ms, unit: "ms" },
    { name: "seal again in the scope", value: again, unit: "ms" },
    { name: `seal in ${SCOPES} new scopes at once, each`, value: scopes.ms / SCOPES, unit: "ms" },
    { name: "  of which on the event loop, CPU", value: busy / SCOPES, unit: "ms" },
    {
      name: `open ${HITS} hits, data key cached`,
      value: cached,
      unit: "ms",
      goal: { atMost: 10 },
    },
    { name: `open ${HITS} hits, key servers asked`, value: cold.ms, unit: "ms" },
    {
      name: `open ${HITS} hits sealed 5 minutes apart, key servers asked`,
      value: apart.ms,
      unit: "ms",
    },
    {
      name: "event loop blocked while sealing and opening",
      value: lag,
      unit: "ms",
      goal: { atMost: 20 },
    },
  ];
}

const TITLE = "seal: data keys under 2 of 3 local key servers in another process";

/** Sealing and opening under a threshold of key servers. */
export const sealPart: Part = { name: "seal", title: TITLE, run: measure };

if (import.meta.main) {
  const text = tableText(TITLE, await measure(() => {}));
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
