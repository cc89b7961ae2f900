import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { checkArguments } from "./arguments.ts";
import { coinBytes, coinTypeOf } from "./coin.ts";
import { ExecutionFailure } from "./failure.ts";
import type { Functions } from "./functions.ts";
import { HELD, ownedBy } from "./object.ts";
import type { Tx } from "./tx.ts";
import { objectId, objectValue, parsePure, pure, type Value } from "./value.ts";

const ArgumentKind = GrpcTypes.Argument_ArgumentKind;
const InputKind = GrpcTypes.Input_InputKind;

/** What a Publish command does with its modules: creates the package and runs `init`. */
export type Publisher = (
  tx: Tx,
  modules: readonly Uint8Array[],
  dependencies: readonly string[],
) => readonly Value[];

/** What an execution runs in. */
export interface ExecutionContext {
  /** Its writes. */
  readonly tx: Tx;
  /** What it may call. */
  readonly functions: Functions;
  /** The coin that pays; absent when gas is not charged. */
  readonly gasCoin?: string | undefined;
  /** What Publish does; the command is refused when absent. */
  readonly publish?: Publisher | undefined;
}

function bad(description: string): never {
  throw new ExecutionFailure("COMMAND_ARGUMENT_ERROR", description);
}

/** Runs the commands of one transaction. */
class Execution {
  readonly #program: GrpcTypes.ProgrammableTransaction;
  readonly #context: ExecutionContext;
  /** Results of every command so far. */
  readonly results: (readonly Value[])[] = [];

  constructor(program: GrpcTypes.ProgrammableTransaction, context: ExecutionContext) {
    this.#program = program;
    this.#context = context;
  }

  #argument(argument: GrpcTypes.Argument | undefined): Value {
    switch (argument?.kind) {
      case ArgumentKind.GAS:
        return this.#context.gasCoin === undefined
          ? bad("there is no gas coin")
          : objectValue(this.#context.gasCoin);
      case ArgumentKind.INPUT: {
        const input = this.#program.inputs[argument.input ?? -1];
        if (input === undefined) return bad("input index out of bounds");
        return input.kind === InputKind.PURE
          ? pure(input.pure ?? new Uint8Array())
          : objectValue(normalizeSuiAddress(input.objectId ?? ""));
      }
      case ArgumentKind.RESULT: {
        const results = this.results[argument.result ?? -1];
        if (results === undefined) return bad("result index out of bounds");
        if (argument.subresult === undefined && results.length !== 1) {
          return bad("the command has not exactly one result");
        }
        return results[argument.subresult ?? 0] ?? bad("result index out of bounds");
      }
      default:
        return bad("unknown kind of argument");
    }
  }

  run(command: GrpcTypes.Command): readonly Value[] {
    const { tx } = this.#context;
    const { command: kind } = command;
    switch (kind.oneofKind) {
      case "moveCall":
        return this.#call(kind.moveCall);
      case "splitCoins": {
        const source = tx.get(objectId(this.#argument(kind.splitCoins.coin)));
        return kind.splitCoins.amounts.map((amount) => {
          const value = BigInt(parsePure(bcs.u64(), this.#argument(amount)));
          tx.takeFrom(source.id, value);
          const id = tx.freshId();
          tx.put({ id, type: source.type, owner: HELD, bcs: coinBytes(id, value) });
          return objectValue(id);
        });
      }
      case "mergeCoins": {
        const into = tx.get(objectId(this.#argument(kind.mergeCoins.coin)));
        for (const argument of kind.mergeCoins.coinsToMerge) {
          const coin = tx.get(objectId(this.#argument(argument)));
          if (coin.type !== into.type || coinTypeOf(coin.type) === undefined) {
            bad("coins of different types");
          }
          if (coin.id === into.id) bad("a coin merged into itself");
          tx.setBalance(into.id, tx.coinBalance(into.id) + tx.coinBalance(coin.id));
          tx.del(coin.id);
        }
        return [];
      }
      case "transferObjects": {
        const to = parsePure(bcs.Address, this.#argument(kind.transferObjects.address));
        for (const argument of kind.transferObjects.objects) {
          const object = tx.get(objectId(this.#argument(argument)));
          if (object.owner.kind !== "address" && object.owner.kind !== "held") {
            bad("only owned objects can be transferred");
          }
          tx.put({ ...object, owner: ownedBy(to) });
        }
        return [];
      }
      case "makeMoveVector":
        return [this.#vector(kind.makeMoveVector.elements.map((each) => this.#argument(each)))];
      case "publish":
        return this.#context.publish?.(tx, kind.publish.modules, kind.publish.dependencies) ??
          bad("packages cannot be published here");
      default:
        return bad(`the command ${kind.oneofKind ?? "?"} is not supported`);
    }
  }

  #vector(elements: readonly Value[]): Value {
    if (!elements.every((each) => each.kind === "pure")) return { kind: "vector", elements };
    const count = bcs.vector(bcs.fixedArray(0, bcs.u8())).serialize(elements.map(() => []));
    const parts = [count.toBytes(), ...elements.map((each) => each.bytes)];
    return pure(Uint8Array.from(parts.flatMap((part) => [...part])));
  }

  #call(call: GrpcTypes.MoveCall): readonly Value[] {
    const { package: packageId = "", module = "", function: name = "" } = call;
    const found = this.#context.functions.get(packageId, module, name);
    if (found === undefined) {
      throw new ExecutionFailure("FUNCTION_NOT_FOUND", `${packageId}::${module}::${name}`);
    }
    const args = call.arguments.map((each) => this.#argument(each));
    const readOnly = new Set(
      this.#program.inputs.filter((input) =>
        input.kind === InputKind.SHARED && input.mutable !== true
      ).map((input) => normalizeSuiAddress(input.objectId ?? "")),
    );
    checkArguments(this.#context.tx, found, args, call.typeArguments, readOnly);
    return found.run(this.#context.tx, args, call.typeArguments) ?? [];
  }

  finish(): void {
    for (const object of this.#context.tx.written.values()) {
      if (object?.owner.kind === "held") {
        throw new ExecutionFailure(
          "UNUSED_VALUE_WITHOUT_DROP",
          `a value of type ${object.type} is neither transferred nor consumed`,
        );
      }
    }
  }
}

/**
 * Runs a programmable transaction over an overlay. Nothing is committed.
 *
 * @returns The results of each command. Throws ExecutionFailure with the index of its command.
 */
export function execute(
  program: GrpcTypes.ProgrammableTransaction,
  context: ExecutionContext,
): readonly (readonly Value[])[] {
  const execution = new Execution(program, context);
  for (const [index, command] of program.commands.entries()) {
    try {
      execution.results.push(execution.run(command));
    } catch (error) {
      if (error instanceof ExecutionFailure) error.command = index;
      throw error;
    }
  }
  execution.finish();
  return execution.results;
}
