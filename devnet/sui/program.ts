import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import type { TransactionDataBuilder } from "@mysten/sui/transactions";
import { normalizeSuiAddress } from "@mysten/sui/utils";

const { Argument_ArgumentKind: ArgumentKind, Input_InputKind: InputKind } = GrpcTypes;

type Data = Pick<TransactionDataBuilder, "inputs" | "commands">;
type DataInput = Data["inputs"][number];
type DataCommand = Data["commands"][number];
type DataArgument = (DataCommand & { $kind: "MoveCall" })["MoveCall"]["arguments"][number];

function input(data: DataInput): GrpcTypes.Input {
  if (data.Pure) {
    return { kind: InputKind.PURE, pure: Uint8Array.fromBase64(data.Pure.bytes) };
  }
  const { ImmOrOwnedObject: owned, SharedObject: shared, Receiving: receiving } = data.Object ?? {};
  if (shared) {
    return {
      kind: InputKind.SHARED,
      objectId: normalizeSuiAddress(shared.objectId),
      version: BigInt(shared.initialSharedVersion),
      mutable: shared.mutable,
    };
  }
  const reference = owned ?? receiving;
  if (reference) {
    return {
      kind: owned ? InputKind.IMMUTABLE_OR_OWNED : InputKind.RECEIVING,
      objectId: normalizeSuiAddress(reference.objectId),
      version: BigInt(reference.version),
      digest: reference.digest,
    };
  }
  if (data.UnresolvedObject) {
    return { objectId: normalizeSuiAddress(data.UnresolvedObject.objectId) };
  }
  throw new TypeError(`inputs of kind ${data.$kind} are not supported`);
}

function argument(data: DataArgument): GrpcTypes.Argument {
  switch (data.$kind) {
    case "GasCoin":
      return { kind: ArgumentKind.GAS };
    case "Input":
      return { kind: ArgumentKind.INPUT, input: data.Input };
    case "Result":
      return { kind: ArgumentKind.RESULT, result: data.Result };
    case "NestedResult": {
      const [result, subresult] = data.NestedResult;
      return { kind: ArgumentKind.RESULT, result, subresult };
    }
  }
}

function commandBody(data: DataCommand): GrpcTypes.Command["command"] {
  if (data.MoveCall) {
    const call = data.MoveCall;
    return {
      oneofKind: "moveCall",
      moveCall: {
        package: normalizeSuiAddress(call.package),
        module: call.module,
        function: call.function,
        typeArguments: [...call.typeArguments],
        arguments: call.arguments.map(argument),
      },
    };
  }
  if (data.SplitCoins) {
    const { coin, amounts } = data.SplitCoins;
    const splitCoins = { coin: argument(coin), amounts: amounts.map(argument) };
    return { oneofKind: "splitCoins", splitCoins };
  }
  if (data.MergeCoins) {
    const { destination, sources } = data.MergeCoins;
    const mergeCoins = { coin: argument(destination), coinsToMerge: sources.map(argument) };
    return { oneofKind: "mergeCoins", mergeCoins };
  }
  if (data.TransferObjects) {
    const { objects, address } = data.TransferObjects;
    const transferObjects = { objects: objects.map(argument), address: argument(address) };
    return { oneofKind: "transferObjects", transferObjects };
  }
  if (data.MakeMoveVec) {
    const { type, elements } = data.MakeMoveVec;
    const makeMoveVector = {
      ...(type ? { elementType: type } : {}),
      elements: elements.map(argument),
    };
    return { oneofKind: "makeMoveVector", makeMoveVector };
  }
  if (data.Publish) {
    const { modules, dependencies } = data.Publish;
    const publish = {
      modules: modules.map((module) => Uint8Array.fromBase64(module)),
      dependencies: [...dependencies],
    };
    return { oneofKind: "publish", publish };
  }
  throw new TypeError(`commands of kind ${data.$kind} are not supported`);
}

/**
 * Inputs and commands of the SDK's transaction data as the protocol has them; the chain executes
 * this form. Throws TypeError for what the chain does not support.
 */
export function programOf(data: Data): GrpcTypes.ProgrammableTransaction {
  return {
    inputs: data.inputs.map(input),
    commands: data.commands.map((each) => ({ command: commandBody(each) })),
  };
}

/**
 * A program from the BCS of `ProgrammableTransaction`, as key servers get it.
 * Throws when the bytes are none.
 */
export function programFromBcs(bytes: Uint8Array): GrpcTypes.ProgrammableTransaction {
  return programOf(bcs.ProgrammableTransaction.parse(bytes) as Data);
}

/** Names of commands: `package::module::function` of calls, else the command's kind. */
export function commandNames(program: GrpcTypes.ProgrammableTransaction): string[] {
  return program.commands.map(({ command }) => {
    if (command.oneofKind !== "moveCall") return command.oneofKind ?? "unknown";
    const { package: packageId = "", module = "", function: name = "" } = command.moveCall;
    return `${normalizeSuiAddress(packageId)}::${module}::${name}`;
  });
}
