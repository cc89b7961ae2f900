/**
 * Uploads to Walrus on a devnet in a process of its own: quilts, transactions, WAL, processor time
 * and event-loop lag while 600 memories arrive within 30 s. By itself:
 * `deno run -A bench/walrus.ts [shards of the second run=100]`.
 */
import process from "node:process";
import { openSui } from "../plugins/sui/chain/sui_client.ts";
import { WalrusBlobStore } from "../plugins/sui/walrus/blob_store.ts";
import { parseWallets } from "../plugins/sui/walrus/upload/wallets.ts";
import { type Figure, type Part, tableText } from "./figures.ts";
import { startNetwork } from "./network_process.ts";
import { quantile } from "./statistics.ts";

const MEMORIES = 600;
const ARRIVAL_MS = 30_000;
const RECORD_BYTES = 800;
const BATCH_MS = 5_000;
const LAG_EVERY_MS = 5;

interface Net {
  readonly rpcUrl: string;
  readonly packageId: string;
  readonly objects: { readonly systemObjectId: string; readonly stakingPoolId: string };
  readonly relayUrl: string;
  readonly aggregatorUrls: readonly string[];
  readonly walType: string;
  readonly privateKeys: string;
}

interface Measured {
  readonly quilts: number;
  readonly transactions: number;
  readonly frost: number;
  readonly encodeMs: number;
  readonly cpuMs: number;
  readonly lagP99: number;
  readonly lagMax: number;
  readonly seconds: number;
}

async function walOf(net: Net): Promise<bigint> {
  const sui = openSui({ network: "localnet", url: net.rpcUrl });
  let sum = 0n;
  for (const wallet of parseWallets(net.privateKeys)) {
    const { balance } = await sui.core.getBalance({
      owner: wallet.toSuiAddress(),
      coinType: net.walType,
    });
    sum += BigInt(balance.balance);
  }
  return sum;
}

/** 600 memories that arrive evenly, in turns of so many scopes. */
async function arrive(net: Net, scopes: number): Promise<Measured> {
  const dataDir = await Deno.makeTempDir({ prefix: "svc_bench_" });
  const counts = new Map<string, number>();
  const before = await walOf(net);
  const lags: number[] = [];
  let last = performance.now();
  let encodeMs = 0;
  let encodeFrom = 0;
  const store = new WalrusBlobStore({
    dataDir,
    sui: openSui({ network: "localnet", url: net.rpcUrl }),
    objects: net.objects,
    route: { kind: "relay", url: net.relayUrl },
    aggregatorUrls: net.aggregatorUrls,
    privateKeys: net.privateKeys,
    packageId: net.packageId,
    writers: [],
    epochs: 3,
    renewBefore: 1,
    raceAfterMs: 150,
    batchMs: BATCH_MS,
    keepMs: 86_400_000,
    failpoint(name) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (name === "cut") encodeFrom = performance.now();
      if (name !== "written") return;
      encodeMs += performance.now() - encodeFrom;
      encodeFrom = performance.now();
    },
  });
  const timer = setInterval(() => {
    const now = performance.now();
    lags.push(Math.max(0, now - last - LAG_EVERY_MS));
    last = now;
  }, LAG_EVERY_MS);
  const cpu = process.cpuUsage();
  const started = performance.now();
  try {
    const puts: Promise<string>[] = [];
    for (let n = 0; n < MEMORIES; n++) {
      const due = started + n * ARRIVAL_MS / MEMORIES;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const scope = n % scopes;
      puts.push(store.put(crypto.getRandomValues(new Uint8Array(RECORD_BYTES)), {
        owner: `0x${(scope + 1).toString(16).padStart(64, "0")}`,
        namespace: "bench",
        idempotencyKey: `job-${n}`,
      }));
    }
    const ids = await Promise.all(puts);
    if (new Set(ids).size !== MEMORIES) throw new Error("ids are not unique");
    const { user, system } = process.cpuUsage(cpu);
    return {
      quilts: counts.get("encoded") ?? 0,
      transactions: (counts.get("register executed") ?? 0) + (counts.get("finish executed") ?? 0),
      frost: Number(before - await walOf(net)),
      encodeMs: encodeMs / MEMORIES,
      cpuMs: (user + system) / 1000 / MEMORIES,
      lagP99: quantile(lags, 0.99),
      lagMax: Math.max(...lags),
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    clearInterval(timer);
    await store[Symbol.asyncDispose]();
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function withNet<T>(shards: number, work: (net: Net) => Promise<T>): Promise<T> {
  await using net = await startNetwork<Net>("bench/walrus_net.ts", `${shards}`);
  return await work(net);
}

function figuresOf(subject: string, measured: Measured, goals: Record<string, number>): Figure[] {
  const rows: readonly (readonly [string, number, string, string?])[] = [
    ["quilts", measured.quilts, "", "quilts"],
    ["transactions", measured.transactions, "", "transactions"],
    ["spent, a memory", measured.frost / MEMORIES, "FROST"],
    ["encode, wall, a memory", measured.encodeMs, "ms", "encodeMs"],
    ["all processor time, a memory", measured.cpuMs, "ms"],
    ["event-loop lag, p99", measured.lagP99, "ms", "lagP99"],
    ["event-loop lag, longest", measured.lagMax, "ms"],
    ["until all are certified", measured.seconds, "s"],
  ];
  return rows.map(([name, value, unit, goal]) => ({
    name: `${subject}: ${name}`,
    value,
    unit,
    ...(goal === undefined || goals[goal] === undefined ? {} : { goal: { atMost: goals[goal] } }),
  }));
}

async function measure(shardsOfMany: number): Promise<Figure[]> {
  const one = await withNet(1000, (net) => arrive(net, 1));
  const many = await withNet(shardsOfMany, (net) => arrive(net, 60));
  return [
    ...figuresOf("one scope, 1000 shards", one, {
      quilts: 3,
      transactions: 6,
      encodeMs: 10,
      lagP99: 20,
    }),
    ...figuresOf(`60 scopes, ${shardsOfMany} shards`, many, {
      quilts: 60,
      transactions: 6,
      lagP99: 20,
    }),
  ];
}

const TITLE =
  "walrus: 600 memories of 800 bytes within 30 s, on a devnet whose relay takes no tips";

/** Uploads; 1000 shards cost seconds a quilt, here and at the relay, so many quilts have fewer. */
export const walrusPart: Part = { name: "walrus", title: TITLE, run: () => measure(100) };

if (import.meta.main) {
  const figures = await measure(Number(Deno.args[0] ?? 100));
  Deno.stdout.writeSync(new TextEncoder().encode(tableText(TITLE, figures)));
}
