import { RpcError } from "@mysten/sui/grpc";
import {
  Deferred,
  mergeRpcOptions,
  type MethodInfo,
  type RpcMetadata,
  type RpcOptions,
  RpcOutputStreamController,
  type RpcStatus,
  type RpcTransport,
  ServerStreamingCall,
  UnaryCall,
} from "@protobuf-ts/runtime-rpc";
import { RpcFault } from "../failure.ts";
import type { ChainNode } from "./node.ts";

const OK: RpcStatus = { code: "OK", detail: "" };

function pathOf<I extends object, O extends object>(method: MethodInfo<I, O>): string {
  return `${method.service.typeName.split(".").at(-1)}/${method.name}`;
}

function rpcError(error: unknown, signal: AbortSignal): RpcError {
  if (signal.aborted) {
    const isTimeout = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
    return new RpcError("the call is aborted", isTimeout ? "DEADLINE_EXCEEDED" : "CANCELLED");
  }
  const message = error instanceof Error ? error.message : String(error);
  return new RpcError(message, error instanceof RpcFault ? error.code : "INTERNAL");
}

/** Settles with the promise, or as soon as the signal aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function signalOf({ abort, timeout }: RpcOptions): AbortSignal {
  const signals: AbortSignal[] = abort === undefined ? [] : [abort];
  if (timeout !== undefined) {
    const ms = typeof timeout === "number" ? timeout : timeout.getTime() - Date.now();
    signals.push(AbortSignal.timeout(Math.max(ms, 0)));
  }
  const [only, ...others] = signals;
  return others.length === 0 && only !== undefined ? only : AbortSignal.any(signals);
}

class InProcessTransport implements RpcTransport {
  readonly #node: ChainNode;

  constructor(node: ChainNode) {
    this.#node = node;
  }

  mergeOptions(options?: Partial<RpcOptions>): RpcOptions {
    return mergeRpcOptions({}, options);
  }

  unary<I extends object, O extends object>(
    method: MethodInfo<I, O>,
    input: I,
    options: RpcOptions,
  ): UnaryCall<I, O> {
    const signal = signalOf(options);
    const answer = async (): Promise<O> => {
      const request = method.I.toBinary(
        method.I.create(input as Parameters<typeof method.I.create>[0]),
      );
      const { value } = await this.#node.call(pathOf(method), request, signal).next();
      return method.O.fromBinary(value ?? new Uint8Array());
    };
    const response = unlessAborted(answer(), signal).catch((error: unknown) => {
      throw rpcError(error, signal);
    });
    const status = response.then(() => OK);
    const metadata = response.then((): RpcMetadata => ({}));
    // Callers read one of them; the others must not count as unhandled.
    for (const each of [status, metadata]) each.catch(() => {});
    return new UnaryCall(method, options.meta ?? {}, input, metadata, response, status, metadata);
  }

  serverStreaming<I extends object, O extends object>(
    method: MethodInfo<I, O>,
    input: I,
    options: RpcOptions,
  ): ServerStreamingCall<I, O> {
    const signal = signalOf(options);
    const output = new RpcOutputStreamController<O>();
    const status = new Deferred<RpcStatus>();
    const trailers = new Deferred<RpcMetadata>();
    const request = method.I.toBinary(
      method.I.create(input as Parameters<typeof method.I.create>[0]),
    );
    const pump = async () => {
      try {
        for await (const frame of this.#node.call(pathOf(method), request, signal)) {
          output.notifyMessage(method.O.fromBinary(frame));
        }
        if (signal.aborted) throw signal.reason;
        output.notifyComplete();
        status.resolve(OK);
        trailers.resolve({});
      } catch (error) {
        const reported = rpcError(error, signal);
        if (!output.closed) output.notifyError(reported);
        status.rejectPending(reported);
        trailers.rejectPending(reported);
      }
    };
    queueMicrotask(() => void pump());
    return new ServerStreamingCall(
      method,
      options.meta ?? {},
      input,
      Promise.resolve({}),
      output,
      status.promise,
      trailers.promise,
    );
  }

  clientStreaming(): never {
    throw new RpcError("the protocol has no client streams", "UNIMPLEMENTED");
  }

  duplex(): never {
    throw new RpcError("the protocol has no duplex streams", "UNIMPLEMENTED");
  }
}

/** A transport for an unmodified SuiGrpcClient that needs no socket. Messages are still encoded. */
export function inProcessTransport(node: ChainNode): RpcTransport {
  return new InProcessTransport(node);
}
