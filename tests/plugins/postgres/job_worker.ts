import { parseAddress, postgresJobStore } from "../../../plugins/postgres/mod.ts";
import { pause } from "../../../src/deadline.ts";
import type { EndedJob, HeldJob } from "../../../src/interfaces/mod.ts";
import { jobOf } from "../../../testing/job_store.ts";

/**
 * A relayer's work on jobs, in a process that may be killed at any moment: accepts jobs, claims what
 * others left, and ends both. Prints the id of each job whose accept, or whose end, was answered.
 *
 * Arguments: address of the database, number of the first job, seed.
 */
const [url = "", first = "", seed = ""] = Deno.args;

/** Between a lease's third and its end, so that a process that stands still for long loses its jobs. */
const LEASE_MS = 900;

let state = Number(seed);
const random = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;

const options = { address: parseAddress(url), connections: 4, leaseMs: LEASE_MS };
// Also a process that is started while the server is away.
const store = (await persist(() => postgresJobStore(options)))!;

/** Tries until the database answers, or says that somebody else has the job. */
async function persist<T>(work: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "internal_error") return undefined;
      if (code !== "storage_unavailable") throw error;
      await pause(30);
    }
  }
}

async function finish({ job, lease, progress }: HeldJob): Promise<void> {
  const attempts = (progress?.attempts ?? 0) + 1;
  const noted = { attempts, recallable: false, due: 0 };
  if (await persist(() => store.progress(lease, noted).then(() => true)) === undefined) return;
  await pause(random() * 20);
  const { payload: _, ...spec } = job;
  const ended: EndedJob = {
    ...spec,
    state: "done",
    attempts,
    endedAt: Date.now(),
    recallable: true,
  };
  const isMine = await persist(() => store.end(lease, ended).then(() => true));
  if (isMine) say(`ended ${job.id}`);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

setInterval(() => void store.renew().catch(() => {}), LEASE_MS / 3);

async function accepting(): Promise<void> {
  for (let number = Number(first);; number++) {
    const job = jobOf(number);
    const leases = await persist(() =>
      store.accept([job], [{ nonce: nonceOf(number), at: Date.now() }])
    ).catch((error) => {
      // Its first accept was written, and only the answer was lost.
      if (error.code === "nonce_reused") return [];
      throw error;
    });
    say(`accepted ${jobOf(number).id}`);
    for (const lease of leases ?? []) await finish({ job, lease });
  }
}

function nonceOf(number: number): Uint8Array {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

async function claiming(): Promise<void> {
  for (;;) {
    const claimed = await persist(() => store.claim(10)) ?? [];
    await Promise.all(claimed.map(finish));
    if (claimed.length === 0) await pause(50);
  }
}

await Promise.all([accepting(), claiming()]);
