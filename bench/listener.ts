import { V8_FLAGS } from "../src/program/launcher/child_spec.ts";
import { DataFolder } from "./data_folder.ts";
import type { Figure, Part } from "./figures.ts";
import { drive } from "./load.ts";
import { freePort, ServerProcess } from "./server_process.ts";
import { median, shuffled, uniform } from "./statistics.ts";

const ROUNDS = 3;
const WARM_UP = 1000;
const ACCEPTS = 4000;
const RECALLS = 4000;
const CLIENTS = 8;
const ACCOUNTS = 8;
/** A certificate for `localhost` that tests have. */
const TLS = new URL("../tests/testdata/tls/first", import.meta.url).pathname;

interface Sample {
  readonly isTls: boolean;
  readonly accepts: number;
  readonly acceptCpu: number;
  readonly recalls: number;
  readonly recallCpu: number;
}

async function measure(isTls: boolean): Promise<Sample> {
  await using folder = await DataFolder.make(ACCOUNTS);
  const port = freePort();
  const files = { SVC_TLS_CERT_FILE: `${TLS}.cert.pem`, SVC_TLS_KEY_FILE: `${TLS}.key.pem` };
  const certificate = isTls ? await Deno.readTextFile(files.SVC_TLS_CERT_FILE) : undefined;
  const requests = (count: number, path: string, body: (i: number) => unknown) =>
    Array.from(
      { length: count },
      (_, i) => folder.keys[i % ACCOUNTS]!.request("POST", path, body(i)),
    );
  // Signed before the server starts: nothing of the client's work falls into the measurement.
  const texts = (from: number) => (i: number) => ({ text: `Likes tea, note number ${from + i}` });
  const query = () => ({ query: "What do I drink?", namespace: "empty" });
  const warmUp = requests(WARM_UP, "/api/remember", texts(0));
  const accepts = requests(ACCEPTS, "/api/remember", texts(WARM_UP));
  const warmRecalls = requests(WARM_UP, "/api/recall", query);
  const recalls = requests(RECALLS, "/api/recall", query);
  await using server = await ServerProcess.start({
    args: [V8_FLAGS.serve, "main.ts", "serve"],
    port,
    env: { ...folder.env(port), ...(isTls ? files : {}) },
    ...(certificate === undefined ? {} : { certificate }),
  });
  const timed = async (all: typeof recalls, status: number) => {
    const before = await server.cpu();
    const { perSecond } = await drive(port, all, CLIENTS, status, certificate);
    return { perSecond, cpu: ((await server.cpu()).main - before.main) * 1000 / all.length };
  };
  await timed(warmUp, 202);
  const accepted = await timed(accepts, 202);
  await timed(warmRecalls, 200);
  const recalled = await timed(recalls, 200);
  return {
    isTls,
    accepts: accepted.perSecond,
    acceptCpu: accepted.cpu,
    recalls: recalled.perSecond,
    recallCpu: recalled.cpu,
  };
}

/** The listener for clients, with TLS and without. */
export const listenerPart: Part = {
  name: "listener",
  title: `listener: signed accepts and recalls of ${CLIENTS} clients, with TLS and without`,
  async run(note) {
    const random = uniform(1);
    const samples: Sample[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      note(`round ${round + 1} of ${ROUNDS}`);
      for (const isTls of shuffled([false, true], random)) samples.push(await measure(isTls));
    }
    return [...figuresOf(samples, false), ...figuresOf(samples, true)];
  },
};

function figuresOf(samples: readonly Sample[], isTls: boolean): Figure[] {
  const how = isTls ? "TLS" : "plain";
  const of = (member: Exclude<keyof Sample, "isTls">) =>
    median(samples.filter((sample) => sample.isTls === isTls).map((sample) => sample[member]));
  return [
    { name: `${how}, accepts`, value: of("accepts"), unit: "/s" },
    { name: `${how}, accepts: CPU, event loop`, value: of("acceptCpu"), unit: "us" },
    { name: `${how}, recalls`, value: of("recalls"), unit: "/s" },
    { name: `${how}, recalls: CPU, event loop`, value: of("recallCpu"), unit: "us" },
  ];
}
