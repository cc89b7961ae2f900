import { GrpcStatusCode } from "@mysten/sui/grpc";
import { Dropped } from "../../faults.ts";
import { RpcFault } from "../failure.ts";
import { concat } from "../object.ts";
import { type ChainNode, StatusFault } from "./node.ts";

/** Longest request accepted, bytes; a node's limit for transactions is far below. */
const MOST_BYTES = 4 * 1024 * 1024;
const DATA = 0;
const TRAILERS = 0x80;
const PREFIX = "/sui.rpc.v2.";

function frame(flag: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(5);
  head[0] = flag;
  new DataView(head.buffer).setUint32(1, payload.length);
  return concat(head, payload);
}

function trailers(code: number, message: string): Uint8Array<ArrayBuffer> {
  const lines = `grpc-status:${code}\r\ngrpc-message:${encodeURIComponent(message)}\r\n`;
  return frame(TRAILERS, new TextEncoder().encode(lines));
}

function failure(error: unknown): Uint8Array<ArrayBuffer> {
  const code = error instanceof RpcFault ? GrpcStatusCode[error.code] : GrpcStatusCode.INTERNAL;
  return trailers(code, error instanceof Error ? error.message : String(error));
}

/** The message of a request: one frame, binary or (grpc-web-text) in Base64. */
function messageOf(body: Uint8Array<ArrayBuffer>, isText: boolean): Uint8Array {
  const bytes = isText ? Uint8Array.fromBase64(new TextDecoder().decode(body)) : body;
  const length = bytes.length < 5 ? -1 : new DataView(bytes.buffer).getUint32(1);
  if (bytes[0] !== DATA || bytes.length !== 5 + length) {
    throw new RpcFault("INVALID_ARGUMENT", "the request is not one frame");
  }
  return bytes.subarray(5);
}

function answer(body: BodyInit, isText: boolean): Response {
  const type = isText ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
  return new Response(body, { headers: { "content-type": type } });
}

function encoder(isText: boolean): (bytes: Uint8Array) => Uint8Array {
  const text = new TextEncoder();
  return isText ? (bytes) => text.encode(bytes.toBase64()) : (bytes) => bytes;
}

/** The answer as a stream; the first message has been read already. */
function streamed(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  isText: boolean,
): ReadableStream<Uint8Array> {
  const encode = encoder(isText);
  let next: IteratorResult<Uint8Array> | undefined = first;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = next ?? await rest.next();
        next = undefined;
        if (!done) return controller.enqueue(encode(frame(DATA, value)));
        controller.enqueue(encode(trailers(GrpcStatusCode.OK, "")));
      } catch (error) {
        if (error instanceof Dropped) return controller.error(error);
        controller.enqueue(encode(failure(error)));
      }
      controller.close();
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}

/**
 * Answers gRPC-web for a node. Throws Dropped when the connection is to be broken.
 *
 * @returns undefined when the path is none of the protocol.
 */
export async function grpcWeb(node: ChainNode, request: Request): Promise<Response | undefined> {
  const { pathname } = new URL(request.url);
  if (request.method !== "POST" || !pathname.startsWith(PREFIX)) return undefined;
  const isText = (request.headers.get("content-type") ?? "").includes("-text");
  try {
    const body = new Uint8Array(await request.arrayBuffer());
    if (body.length > MOST_BYTES) throw new RpcFault("OUT_OF_RANGE", "the request is too long");
    const message = messageOf(body, isText);
    const frames = node.call(pathname.slice(PREFIX.length), message, request.signal);
    return answer(streamed(await frames.next(), frames, isText), isText);
  } catch (error) {
    if (error instanceof Dropped) throw error;
    if (error instanceof StatusFault) {
      const { status, retryAfter } = error;
      const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
      return new Response(null, { status, headers });
    }
    return answer(encoder(isText)(failure(error)) as Uint8Array<ArrayBuffer>, isText);
  }
}
