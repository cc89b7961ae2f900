import { poll } from "../tests/within.ts";
import { NO_POSTGRES, PostgresServer } from "../tests/postgres_server.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { fill } from "./fill.ts";
import { measure } from "./first_recall.ts";
import { startRelayer } from "./relayer_process.ts";
import { median } from "./statistics.ts";

const ROUNDS = 7;
const SCOPES = { n10000: 10_000 };
const QUERY = "What do I drink in the morning?";
const MODES = ["semantic", "hybrid"] as const;
/** Single rows that a scope keeps: fewer make no segment. */
const LOOSE = 256;

type Settings = Readonly<Record<string, string>>;

/** Starts a relayer and answers how long its first recall takes, milliseconds. */
async function first(folder: DataFolder, settings: Settings, mode: string): Promise<number> {
  await using server = await startRelayer(folder, settings);
  const times = await measure(
    server.port,
    SCOPES,
    (namespace) => folder.key.request("POST", "/api/recall", { query: QUERY, namespace, mode }),
  );
  // After an unclean end the next start would refuse what is signed right away.
  await server.stop();
  return times.get("n10000")!.ms;
}

/** Reads the namespace until its rows are packed, as those of a running relayer are. */
async function pack(folder: DataFolder, settings: Settings, loose: () => Promise<number>) {
  await using server = await startRelayer(folder, settings);
  await measure(
    server.port,
    SCOPES,
    (namespace) => folder.key.request("POST", "/api/recall", { query: QUERY, namespace }),
  );
  await poll(loose, (count) => count < LOOSE);
  await server.stop();
}

/** The index in PostgreSQL beside the one in SQLite, both on this machine, in turns. */
export const postgresPart: Part = {
  name: "postgres",
  title:
    "postgres: the first recall of 10,000 memories after a start, index in PostgreSQL or SQLite",
  async run(note): Promise<Figure[]> {
    if (NO_POSTGRES !== undefined) {
      note(NO_POSTGRES);
      return [];
    }
    await using database = await PostgresServer.start();
    const url = await database.database();
    const settings = { SVC_VECTOR_STORE: "postgres", SVC_DATABASE_URL: url };
    await using folder = await DataFolder.make();
    await using other = await DataFolder.make();
    note("filling");
    await fill(folder, SCOPES);
    await fill(other, SCOPES, settings);
    const count = "select count(*)::int as loose from svc.entry where segment is null";
    const loose = async () => (await database.run<{ loose: number }>(url, count))[0]!.loose;
    await pack(folder, {}, () => Promise.resolve(0));
    await pack(other, settings, loose);
    const figures: Figure[] = [];
    for (const mode of MODES) {
      const times = { sqlite: [] as number[], postgres: [] as number[] };
      for (let round = 0; round < ROUNDS; round++) {
        note(`${mode}, round ${round + 1} of ${ROUNDS}`);
        times.sqlite.push(await first(folder, {}, mode));
        times.postgres.push(await first(other, settings, mode));
      }
      const goal = { atMost: 150 };
      const ratio = median(times.postgres.map((ms, round) => ms / times.sqlite[round]!));
      figures.push(
        { name: `first ${mode} recall, SQLite`, value: median(times.sqlite), unit: "ms" },
        {
          name: `first ${mode} recall, PostgreSQL`,
          value: median(times.postgres),
          unit: "ms",
          goal,
        },
        { name: `first ${mode} recall, PostgreSQL / SQLite`, value: ratio, unit: "x" },
      );
    }
    return figures;
  },
};
