/**
 * A relayer's blob store in a process of its own, that kills itself at a failpoint. Arguments: one
 * JSON text with the settings. Writes the ids it was answered, one line of JSON.
 */
import { openSui } from "../../../../plugins/sui/chain/sui_client.ts";
import { WalrusBlobStore } from "../../../../plugins/sui/walrus/blob_store.ts";
import { SYSTEM_CLOCK } from "../../../../plugins/sui/walrus/clock.ts";

const settings = JSON.parse(Deno.args[0]!);
await using store = new WalrusBlobStore({
  ...settings.options,
  sui: openSui({ network: "localnet", url: settings.rpcUrl }),
  clock: { ...SYSTEM_CLOCK, now: () => Date.now() + settings.aheadMs },
  failpoint(name) {
    if (name === settings.dieAt) Deno.kill(Deno.pid, "SIGKILL");
  },
});
const ids = await Promise.all(
  Array.from(
    { length: 4 },
    (_, n) =>
      store.put(new TextEncoder().encode(`memory ${n} of ${settings.owner}`), {
        owner: settings.owner,
        namespace: n < 2 ? "work" : "home",
        idempotencyKey: `job-${n}`,
        standalone: n === 3,
      }),
  ),
);
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(ids)));
