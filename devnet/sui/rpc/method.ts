import type { MessageType } from "@protobuf-ts/runtime";
import { RpcFault } from "../failure.ts";

/** What a call brings along. */
export interface CallContext {
  /** Aborts when the caller is gone or the node closes. */
  readonly signal: AbortSignal;
  /** Asks for a well-formed lie. */
  readonly wrong: boolean;
}

/** A method that answers once; takes and gives messages of the wire. */
export interface UnaryMethod {
  /** `Service/Method` without the package. */
  readonly path: string;
  /** Answers. Throws RpcFault. */
  readonly unary: (request: Uint8Array, context: CallContext) => Promise<Uint8Array>;
}

/** A method that answers with a stream of messages. */
export interface StreamMethod {
  /** `Service/Method` without the package. */
  readonly path: string;
  /** Streams until the signal aborts. Throws RpcFault. */
  readonly stream: (request: Uint8Array, context: CallContext) => AsyncIterable<Uint8Array>;
}

/** A method of the node. */
export type RpcMethod = UnaryMethod | StreamMethod;

function decode<T extends object>(type: MessageType<T>, bytes: Uint8Array): T {
  try {
    return type.fromBinary(bytes);
  } catch {
    throw new RpcFault("INVALID_ARGUMENT", "the request is not a message of its type");
  }
}

/** A method that answers once, by the types of its messages. */
export function unary<I extends object, O extends object>(
  path: string,
  input: MessageType<I>,
  output: MessageType<O>,
  run: (request: I, context: CallContext) => O | Promise<O>,
): UnaryMethod {
  return {
    path,
    unary: async (request, context) => output.toBinary(await run(decode(input, request), context)),
  };
}

/** A method that streams, by the types of its messages. */
export function streaming<I extends object, O extends object>(
  path: string,
  input: MessageType<I>,
  output: MessageType<O>,
  run: (request: I, context: CallContext) => Iterable<O> | AsyncIterable<O>,
): StreamMethod {
  return {
    path,
    async *stream(request, context) {
      for await (const message of run(decode(input, request), context)) {
        yield output.toBinary(message);
      }
    },
  };
}
