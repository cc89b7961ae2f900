import { Connection } from "./connection.ts";
import { DataFolder } from "./data_folder.ts";
import type { Part } from "./figures.ts";
import { freePort, ServerProcess } from "./server_process.ts";
import { median, shuffled, uniform } from "./statistics.ts";

const ROUNDS = 7;
const COMMANDS = ["bare", "serve", "start"] as const;
type Command = (typeof COMMANDS)[number];

interface Start {
  readonly command: Command;
  readonly readyMs: number;
  readonly ownMiB: number;
  readonly allMiB: number;
}

async function measure(command: Command, folder: DataFolder): Promise<Start> {
  const port = freePort();
  const args = command === "bare" ? ["bench/servers/bare.ts", String(port)] : ["main.ts", command];
  await using server = await ServerProcess.start({
    args,
    port,
    env: folder.env(port),
    readyPath: "/health",
  });
  if (command !== "bare") {
    // The weights are loaded once a text was embedded.
    using connection = await Connection.open(port);
    await connection.json(folder.key.request("POST", "/api/recall", { query: "tea" }));
  }
  const sample = {
    command,
    readyMs: server.readyMs,
    ownMiB: await server.ownMiB(),
    allMiB: await server.residentMiB(),
  };
  await server.stop();
  return sample;
}

/** From the start of the process to the first 200 of GET /health, and the memory it then takes. */
export const startPart: Part = {
  name: "start",
  title: "start: process start to GET /health 200, existing data directory, modules cached",
  async run(note) {
    await using folder = await DataFolder.make();
    const random = uniform(1);
    const samples: Start[] = [];
    // The first round makes the files and fills the caches of the system.
    for (let round = 0; round <= ROUNDS; round++) {
      note(`round ${round} of ${ROUNDS}`);
      for (const command of shuffled(COMMANDS, random)) {
        const sample = await measure(command, folder);
        if (round > 0) samples.push(sample);
      }
    }
    const of = (command: Command, member: "readyMs" | "ownMiB" | "allMiB") =>
      samples.filter((sample) => sample.command === command).map((sample) => sample[member]);
    const bare = of("bare", "readyMs");
    const times = (command: Command) =>
      median(of(command, "readyMs").map((ms, round) => ms / bare[round]!));
    return [
      { name: "bare server", value: median(bare), unit: "ms" },
      { name: "serve", value: median(of("serve", "readyMs")), unit: "ms" },
      { name: "serve / bare", value: times("serve"), unit: "x" },
      {
        name: "start (launcher, relayer, sidecar)",
        value: median(of("start", "readyMs")),
        unit: "ms",
      },
      { name: "start / bare", value: times("start"), unit: "x" },
      { name: "memory of the bare server", value: median(of("bare", "ownMiB")), unit: "MiB" },
      {
        name: "memory of serve, embedder loaded",
        value: median(of("serve", "ownMiB")),
        unit: "MiB",
      },
      {
        name: "memory of start, all three processes",
        value: median(of("start", "allMiB")),
        unit: "MiB",
      },
    ];
  },
};
