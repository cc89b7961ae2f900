import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Catalogue } from "../../../../plugins/sui/walrus/catalogue.ts";
import type { Devnet } from "../../../../devnet/mod.ts";
import { LOCKED } from "../../../locked.ts";
import { blobsOf, type Changes, optionsOn, walHeld, WalrusStage } from "./walrus_for_tests.ts";

const CHILD = new URL("./crash_child.ts", import.meta.url).pathname;

interface Run {
  readonly devnet: Devnet;
  readonly dataDir: string;
  readonly owner: string;
  readonly via: "relay" | "publisher";
  readonly dieAt?: string;
  readonly aheadMs?: number;
}

/** One life of a child; answers the ids it printed, or the signal that ended it. */
async function live({ devnet, dataDir, owner, via, dieAt = "", aheadMs = 0 }: Run) {
  const { sui: _, ...options } = optionsOn(
    devnet,
    { dataDir, via } as Changes & { dataDir: string },
  );
  const settings = { options, rpcUrl: devnet.rpcUrl, owner, dieAt, aheadMs };
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...LOCKED, "--no-check", "--allow-all", CHILD, JSON.stringify(settings)],
    stdout: "piped",
    stderr: "piped",
  });
  const { signal, stdout, stderr } = await child.output();
  const text = new TextDecoder().decode(stdout);
  const ids = text === "" ? undefined : JSON.parse(text) as string[];
  if (signal === null && ids === undefined) throw new Error(new TextDecoder().decode(stderr));
  return { signal, ids };
}

const ROUTES = {
  relay: [
    "item",
    "cut",
    "written",
    "encoded",
    "register signed",
    "register executed",
    "registered",
    "relay answered",
    "uploaded",
    "finish signed",
    "finish executed",
    "done",
  ],
  publisher: ["asked", "publisher answered", "uploaded"],
} as const;

for (const via of ["relay", "publisher"] as const) {
  Deno.test(`a killed process pays and stores once, by a ${via}`, async (t) => {
    await using stage = await WalrusStage.start();
    const { devnet } = stage;
    const payers = devnet.wallets.payers.map((wallet) => wallet.toSuiAddress());
    let cost: bigint | undefined;
    for (const [index, dieAt] of ["", ...ROUTES[via]].entries()) {
      await t.step(dieAt === "" ? "not killed" : `killed at ${dieAt}`, async () => {
        const owner = `0x${(index + 16).toString(16).padStart(64, "a")}`;
        const dataDir = await Deno.makeTempDir();
        const before = walHeld(devnet);
        const run = { devnet, dataDir, owner, via };
        if (dieAt !== "") strictEqual((await live({ ...run, dieAt })).signal, "SIGKILL");
        // A publisher that was asked is given time; the second life is later.
        const { ids } = await live({ ...run, aheadMs: 600_000 });
        const spent = before - walHeld(devnet);
        cost ??= spent;
        strictEqual(spent, cost, "another price than without a crash");
        strictEqual(blobsOf(devnet, owner), 3);
        for (const payer of payers) strictEqual(blobsOf(devnet, payer), 0);
        strictEqual(new Set(ids).size, 4);
        const again = await live({ ...run, aheadMs: 700_000 });
        deepStrictEqual(again.ids, ids);
        strictEqual(walHeld(devnet), before - spent);
        const catalogue = new Catalogue({ dataDir });
        strictEqual(catalogue.liveIn({ owner, namespace: "work" }).length, 1);
        await catalogue.database.close();
        await Deno.remove(dataDir, { recursive: true });
      });
    }
  });
}
