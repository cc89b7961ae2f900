import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { drive } from "./load.ts";
import { freePort, ServerProcess } from "./server_process.ts";
import type { WireRequest } from "./signing_key.ts";
import { median, shuffled, uniform } from "./statistics.ts";

const ROUNDS = 5;
const WARM_UP = 1500;
/** Requests of one measurement by number of clients. */
const REQUESTS = new Map([[1, 1500], [8, 4000], [32, 8000]]);
const ACCOUNTS = 8;

const SERVERS = ["bare", "checks", "remember"] as const;
type ServerName = (typeof SERVERS)[number];

interface Sample {
  readonly server: ServerName;
  readonly clients: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of CPU a request: all threads, and the event loop's alone. */
  readonly cpu: number;
  readonly mainCpu: number;
}

function start(name: ServerName, folder: DataFolder): Promise<ServerProcess> {
  const port = freePort();
  const args = {
    bare: ["bench/servers/bare.ts", String(port)],
    checks: ["bench/servers/verify_only.ts", String(port), folder.dataDir],
    remember: ["main.ts", "serve"],
  }[name];
  return ServerProcess.start({ args, port, env: folder.env(port) });
}

function prepare(folder: DataFolder, count: number): WireRequest[] {
  return Array.from({ length: count }, (_, i) => {
    const text = `Prefers dark roast coffee, lives in Lisbon, note number ${i}`;
    return folder.keys[i % folder.keys.length]!.request("POST", "/api/remember", { text });
  });
}

/** One server through all numbers of clients, on a fresh process and folder. */
async function measure(server: ServerName): Promise<Sample[]> {
  await using folder = await DataFolder.make(ACCOUNTS);
  // Signed before the server starts: nothing of the client's work falls into the measurement.
  const warmUp = prepare(folder, WARM_UP);
  const runs = [...REQUESTS].map(([clients, count]) => ({
    clients,
    requests: prepare(folder, count),
  }));
  await using process = await start(server, folder);
  await drive(process.port, warmUp, 8, 202);
  const samples: Sample[] = [];
  for (const { clients, requests } of runs) {
    const before = await process.cpu();
    const load = await drive(process.port, requests, clients, 202);
    const after = await process.cpu();
    samples.push({
      server,
      clients,
      ...load,
      cpu: (after.all - before.all) * 1000 / requests.length,
      mainCpu: (after.main - before.main) * 1000 / requests.length,
    });
  }
  return samples;
}

/** Signed durable accepts next to a bare server and to the relayer's checks alone. */
export const acceptPart: Part = {
  name: "accept",
  title: "accept: POST /api/remember, 6-field signature, every 202 after a committed write",
  async run(note) {
    const random = uniform(1);
    const rounds: Sample[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      const samples: Sample[] = [];
      for (const server of shuffled(SERVERS, random)) samples.push(...await measure(server));
      rounds.push(samples);
    }
    return figuresOf(rounds);
  },
};

function figuresOf(rounds: readonly Sample[][]): Figure[] {
  const figures: Figure[] = [];
  for (const clients of REQUESTS.keys()) {
    const of = (server: ServerName, member: Exclude<keyof Sample, "server">) =>
      rounds.map((samples) =>
        samples.find((sample) => sample.server === server && sample.clients === clients)![member]
      );
    for (const server of SERVERS) {
      const name = (what: string) => `${clients} clients, ${server}: ${what}`;
      figures.push(
        { name: name("answers"), value: median(of(server, "perSecond")), unit: "/s" },
        { name: name("p50"), value: median(of(server, "p50")), unit: "ms" },
        { name: name("p99"), value: median(of(server, "p99")), unit: "ms" },
        { name: name("CPU"), value: median(of(server, "cpu")), unit: "us" },
        { name: name("CPU, event loop"), value: median(of(server, "mainCpu")), unit: "us" },
      );
    }
    const share = (above: ServerName, below: ServerName, what: keyof Sample & "perSecond") => {
      const bottom = of(below, what);
      return median(of(above, what).map((value, i) => value / bottom[i]!));
    };
    figures.push(
      {
        name: `${clients} clients: checks / bare`,
        value: share("checks", "bare", "perSecond"),
        unit: "x",
      },
      {
        name: `${clients} clients: remember / checks`,
        value: share("remember", "checks", "perSecond"),
        unit: "x",
        ...(clients === 32 ? { goal: { atLeast: 0.6 } } : {}),
      },
    );
  }
  return figures;
}
