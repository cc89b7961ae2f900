import { GrpcTypes } from "@mysten/sui/grpc";

const Kind = GrpcTypes.ExecutionError_ExecutionErrorKind;

/** Kinds of failed execution that the chain reports. */
export type FailureKind = keyof typeof GrpcTypes.ExecutionError_ExecutionErrorKind;

/** The execution of a transaction failed: its gas is charged, nothing else is written. */
export class ExecutionFailure extends Error {
  /** Name in `ExecutionError.ExecutionErrorKind`. */
  readonly kind: FailureKind;
  /** Index of the command that failed. */
  command = 0;

  /** @param description What a node's `description` would say. */
  constructor(kind: FailureKind, description: string) {
    super(description);
    this.name = "ExecutionFailure";
    this.kind = kind;
  }

  /** As the protocol has it. */
  toProto(): GrpcTypes.ExecutionError {
    return {
      kind: Kind[this.kind],
      description: this.message,
      command: BigInt(this.command),
      errorDetails: { oneofKind: undefined },
    };
  }
}

/** A Move function aborted. */
export class Abort extends ExecutionFailure {
  /** Abort code. */
  readonly code: number;
  /** `package::module::function`. */
  readonly where: string;

  /** @param where `package::module::function`. */
  constructor(code: number, where: string) {
    super("MOVE_ABORT", `MoveAbort in ${where}, code ${code}`);
    this.name = "Abort";
    this.code = code;
    this.where = where;
  }

  override toProto(): GrpcTypes.ExecutionError {
    const [packageId = "", module = "", functionName = ""] = this.where.split("::");
    return {
      ...super.toProto(),
      errorDetails: {
        oneofKind: "abort",
        abort: {
          abortCode: BigInt(this.code),
          location: { package: packageId, module, functionName, function: 0, instruction: 0 },
        },
      },
    };
  }
}

/** Status codes of gRPC that the chain answers with. */
export type RpcCode =
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "FAILED_PRECONDITION"
  | "RESOURCE_EXHAUSTED"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE";

/** A call is refused before anything runs. */
export class RpcFault extends Error {
  /** Name of the gRPC status. */
  readonly code: RpcCode;

  /** @param message Text of the status. */
  constructor(code: RpcCode, message: string) {
    super(message);
    this.name = "RpcFault";
    this.code = code;
  }
}
