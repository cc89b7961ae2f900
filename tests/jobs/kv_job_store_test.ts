import { KvJobStore } from "../../src/jobs/kv_job_store.ts";
import { KvWriter, Staging } from "../../src/jobs/staging.ts";
import { conform, type JobPlace, jobStoreSuite } from "../../testing/mod.ts";

/** Jobs in a file that one process after the other opens. */
async function kvPlace(): Promise<JobPlace> {
  const folder = await Deno.makeTempDir();
  return {
    async open() {
      const kv = await Deno.openKv(`${folder}/jobs.kv`);
      const writer = new KvWriter(kv, { wakeUps: false, now: Date.now });
      const store = new KvJobStore(kv, writer, new Staging(kv, writer, Date.now));
      const dispose = store[Symbol.asyncDispose].bind(store);
      let isOpen = true;
      store[Symbol.asyncDispose] = async () => {
        await dispose();
        if (isOpen) kv.close();
        isOpen = false;
      };
      return store;
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

conform(jobStoreSuite, "Deno KV", kvPlace);
