import { bcs } from "@mysten/sui/bcs";
import { Transaction, TransactionDataBuilder } from "@mysten/sui/transactions";
import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { Chain } from "../../devnet/sui/chain.ts";
import { DevnetClock } from "../../devnet/sui/clock.ts";
import { SUI_TYPE } from "../../devnet/sui/coin.ts";
import { Abort } from "../../devnet/sui/failure.ts";
import { HELD, ownedBy } from "../../devnet/sui/object.ts";
import { programOf } from "../../devnet/sui/program.ts";
import { objectValue, parsePure } from "../../devnet/sui/value.ts";

const ALICE = `0x${"a1".repeat(32)}`;
const BOB = `0x${"b0".repeat(32)}`;
const PACKAGE = `0x${"33".repeat(32)}`;

function newChain(): Chain {
  return new Chain({ seed: 7, clock: new DevnetClock(() => 1_000) });
}

function counterChain(): Chain {
  const chain = newChain();
  const type = `${PACKAGE}::counter::Counter`;
  chain.publish(PACKAGE);
  chain.fn(`${PACKAGE}::counter::make`, (tx, [value]) => {
    const id = tx.freshId();
    const start = parsePure(bcs.u64(), value);
    tx.put({ id, type, owner: HELD, bcs: bcs.u64().serialize(start).toBytes() });
    tx.emit(PACKAGE, "counter", "Made", bcs.u64().serialize(start).toBytes());
    return [objectValue(id)];
  }, { parameters: ["u64"], returns: [type] });
  chain.fn(`${PACKAGE}::counter::fail`, () => {
    throw new Abort(7, `${PACKAGE}::counter::fail`);
  }, { parameters: [`&mut ${type}`] });
  return chain;
}

function program(fill: (tx: Transaction) => void) {
  const transaction = new Transaction();
  fill(transaction);
  return programOf(TransactionDataBuilder.restore(transaction.getData()));
}

Deno.test("ids, digests and the chain's name follow the seed", () => {
  const make = () => {
    const chain = newChain();
    return [chain.chainId, chain.mint(ALICE, SUI_TYPE, 5n), chain.freshId()];
  };
  deepStrictEqual(make(), make());
});

Deno.test("a value that is neither transferred nor consumed fails the transaction", () => {
  const chain = counterChain();
  const kept = program((tx) => {
    tx.moveCall({ target: `${PACKAGE}::counter::make`, arguments: [tx.pure.u64(3)] });
  });
  const run = chain.dryRun(kept, { sender: ALICE, digest: "d" });
  strictEqual(run.failure?.kind, "UNUSED_VALUE_WITHOUT_DROP");
});

Deno.test("results of a command are arguments of the next", () => {
  const chain = counterChain();
  const moved = program((tx) => {
    const made = tx.moveCall({ target: `${PACKAGE}::counter::make`, arguments: [tx.pure.u64(3)] });
    tx.transferObjects([made], BOB);
  });
  const run = chain.dryRun(moved, { sender: ALICE, digest: "d" });
  strictEqual(run.failure, undefined);
  deepStrictEqual([...run.tx.written.values()].map((object) => object?.owner), [ownedBy(BOB)]);
});

Deno.test("arguments of another type, size or number are refused", () => {
  const chain = counterChain();
  const coin = chain.mint(ALICE, SUI_TYPE, 5n);
  const kinds = [
    program((tx) => {
      tx.moveCall({ target: `${PACKAGE}::counter::fail`, arguments: [tx.object(coin)] });
    }),
    program((tx) => {
      tx.moveCall({ target: `${PACKAGE}::counter::make`, arguments: [tx.pure.u8(3)] });
    }),
    program((tx) => {
      tx.moveCall({ target: `${PACKAGE}::counter::make`, arguments: [] });
    }),
    program((tx) => {
      tx.moveCall({ target: `${PACKAGE}::counter::none`, arguments: [] });
    }),
  ].map((each) => chain.dryRun(each, { sender: ALICE, digest: "d" }).failure?.kind);
  deepStrictEqual(kinds, [
    "COMMAND_ARGUMENT_ERROR",
    "COMMAND_ARGUMENT_ERROR",
    "ARITY_MISMATCH",
    "FUNCTION_NOT_FOUND",
  ]);
});

Deno.test("what the devnet does by itself is a transaction too", () => {
  const chain = counterChain();
  const coin = chain.mint(ALICE, SUI_TYPE, 5n);
  chain.apply(ALICE, "pay", (tx) => tx.takeFrom(coin, 2n));
  strictEqual(chain.balanceOf(ALICE, SUI_TYPE), 3n);
  deepStrictEqual(chain.ledger.records.map(({ commands }) => commands), [["pay"]]);
  strictEqual(chain.object(coin)?.previousTransaction, chain.ledger.records[0]?.digest);
});

Deno.test("the clock object shows the chain's time", () => {
  const chain = newChain();
  chain.clock.advance(500);
  const content = chain.object("0x6")?.bcs ?? new Uint8Array();
  strictEqual(bcs.u64().parse(content.slice(32)), "1500");
});
