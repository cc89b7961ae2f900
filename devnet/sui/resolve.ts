import { GrpcTypes } from "@mysten/sui/grpc";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { Chain } from "./chain.ts";
import { RpcFault } from "./failure.ts";
import { DEFAULT_BUDGET, GAS_PRICE, selectGas } from "./gas.ts";
import { objectDigest } from "./ids.ts";
import type { ChainObject } from "./object.ts";

const { Argument_ArgumentKind: ArgumentKind, Input_InputKind: InputKind } = GrpcTypes;

/** The program of a transaction. Throws RpcFault when it has another kind. */
export function programIn(
  transaction: GrpcTypes.Transaction,
): GrpcTypes.ProgrammableTransaction {
  const data = transaction.kind?.data;
  if (data?.oneofKind === "programmableTransaction") return data.programmableTransaction;
  throw new RpcFault("INVALID_ARGUMENT", "only programmable transactions are supported");
}

function usesInput(argument: GrpcTypes.Argument | undefined, index: number): boolean {
  return argument?.kind === ArgumentKind.INPUT && argument.input === index;
}

/** Whether a command may change an input: by value, or by mutable reference. */
function writesInput(chain: Chain, { command }: GrpcTypes.Command, index: number): boolean {
  switch (command.oneofKind) {
    case "moveCall": {
      const { package: packageId = "", module = "", function: name = "" } = command.moveCall;
      const parameters = chain.functions.get(packageId, module, name)?.parameters;
      return command.moveCall.arguments.some((argument, at) =>
        usesInput(argument, index) && parameters?.[at]?.passing !== "reference"
      );
    }
    case "transferObjects":
      return command.transferObjects.objects.some((each) => usesInput(each, index));
    case "splitCoins":
      return usesInput(command.splitCoins.coin, index);
    case "mergeCoins":
      return [command.mergeCoins.coin, ...command.mergeCoins.coinsToMerge]
        .some((each) => usesInput(each, index));
    case "makeMoveVector":
      return command.makeMoveVector.elements.some((each) => usesInput(each, index));
    default:
      return false;
  }
}

function reference(object: ChainObject): GrpcTypes.ObjectReference {
  return { objectId: object.id, version: object.version, digest: objectDigest(object) };
}

function resolveInput(
  chain: Chain,
  program: GrpcTypes.ProgrammableTransaction,
  input: GrpcTypes.Input,
  index: number,
): GrpcTypes.Input {
  if (input.kind === InputKind.PURE) return input;
  if (input.pure !== undefined && input.objectId === undefined) {
    return { ...input, kind: InputKind.PURE };
  }
  if (!input.objectId) {
    throw new RpcFault("INVALID_ARGUMENT", `input ${index} of an unsupported kind`);
  }
  const object = chain.object(normalizeSuiAddress(input.objectId));
  if (object === undefined) {
    throw new RpcFault("NOT_FOUND", `Object ${input.objectId} not found`);
  }
  if (object.owner.kind === "shared") {
    return {
      kind: InputKind.SHARED,
      objectId: object.id,
      version: object.owner.since,
      mutable: input.mutable ??
        program.commands.some((command) => writesInput(chain, command, index)),
    };
  }
  const { version, digest } = reference(object);
  return {
    kind: input.kind === InputKind.RECEIVING ? input.kind : InputKind.IMMUTABLE_OR_OWNED,
    objectId: object.id,
    version: input.version ?? version ?? 0n,
    digest: input.digest ?? digest ?? "",
  };
}

function resolveGas(
  chain: Chain,
  transaction: GrpcTypes.Transaction,
  program: GrpcTypes.ProgrammableTransaction,
): GrpcTypes.GasPayment {
  const given = transaction.gasPayment;
  const owner = given?.owner ?? transaction.sender ?? "";
  const budget = given?.budget ?? DEFAULT_BUDGET;
  const used = new Set(program.inputs.flatMap(({ objectId }) => objectId ?? []));
  const objects = given !== undefined && given.objects.length > 0
    ? given.objects
    : selectGas(chain, owner, budget, used).map(reference);
  return { objects, owner, budget, price: given?.price ?? GAS_PRICE };
}

/**
 * Fills in what a client left open, as a node does: versions and digests of objects, whether shared
 * ones are written, and gas. Throws RpcFault.
 *
 * @param selectsGas Whether coins are to be chosen where none are given.
 */
export function resolveTransaction(
  chain: Chain,
  transaction: GrpcTypes.Transaction,
  selectsGas: boolean,
): GrpcTypes.Transaction {
  const open = programIn(transaction);
  const inputs = open.inputs.map((input, index) => resolveInput(chain, open, input, index));
  const programmableTransaction = { inputs, commands: open.commands };
  const kind: GrpcTypes.TransactionKind = {
    data: { oneofKind: "programmableTransaction", programmableTransaction },
  };
  return {
    ...transaction,
    version: 1,
    sender: normalizeSuiAddress(transaction.sender ?? "0x0"),
    kind,
    expiration: transaction.expiration ??
      { kind: GrpcTypes.TransactionExpiration_TransactionExpirationKind.NONE },
    ...(selectsGas ? { gasPayment: resolveGas(chain, transaction, programmableTransaction) } : {}),
  };
}
