import { match, strictEqual } from "node:assert/strict";
import { TransactionError } from "@mysten/sui/client";
import { blobsOf, hastyClock, optionsOn, walHeld, WalrusStage } from "./walrus_for_tests.ts";

const WORK = { owner: `0x${"c".repeat(64)}`, namespace: "work" };

const put = (stage: WalrusStage, sui = optionsOn(stage.devnet, { dataDir: "" }).sui) => {
  const store = stage.open({ sui, clock: hastyClock(), patienceMs: 60 * 60_000 });
  return {
    store,
    put: (n: number) => store.put(Uint8Array.of(n), { ...WORK, idempotencyKey: `${n}` }),
  };
};

Deno.test("transactions that a node denies to have executed are paid once", async () => {
  await using stage = await WalrusStage.start();
  const { devnet, dataDir } = stage;
  const before = walHeld(devnet);
  const honest = put(stage);
  await honest.put(1);
  await honest.store[Symbol.asyncDispose]();
  const cost = before - walHeld(devnet);

  const { sui } = optionsOn(devnet, { dataDir });
  const { core } = sui;
  const execute = core.executeTransaction.bind(core);
  let executed = 0;
  core.executeTransaction = (async (options: Parameters<typeof execute>[0]) => {
    executed++;
    await execute(options);
    throw new Error("the answer is lost");
  }) as typeof core.executeTransaction;
  core.getTransaction =
    (({ digest }: { digest: string }) =>
      Promise.reject(new TransactionError("notFound", digest))) as typeof core.getTransaction;
  const held = walHeld(devnet);
  const liar = put(stage, sui);
  match(await liar.put(2), /^[\w-]{50}$/);
  await liar.store[Symbol.asyncDispose]();
  strictEqual(executed, 2);
  strictEqual(held - walHeld(devnet), cost);
  strictEqual(blobsOf(devnet, WORK.owner), 2);
});
