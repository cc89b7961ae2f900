import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import type { WireRequest } from "./signing_key.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** What a paced writer saw after its warm-up; every answer was a 202. */
export interface Written {
  /** Requests accepted. */
  readonly requests: number;
  /** From the first one due to the last answer. */
  readonly seconds: number;
  /** Median time of an answer, milliseconds. */
  readonly p50: number;
  /** 99th percentile of the same. */
  readonly p99: number;
}

/** Requests one after the other, each behind its length: 4 bytes, big endian. */
export function packRequests(requests: readonly WireRequest[]): Uint8Array {
  return Buffer.concat(requests.flatMap((request) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(request.length);
    return [length, request];
  }));
}

/** What {@linkcode packRequests} put together. */
export function unpackRequests(packed: Uint8Array): WireRequest[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const requests: WireRequest[] = [];
  for (let at = 0; at < packed.length;) {
    const end = at + 4 + view.getUint32(at);
    requests.push(packed.subarray(at + 4, end));
    at = end;
  }
  return requests;
}

/** Options of {@linkcode writePaced}. */
export interface PacedWrites {
  /** Where the relayer listens. */
  readonly port: number;
  /** Signed requests, less than five minutes old. */
  readonly requests: readonly WireRequest[];
  /** Milliseconds between two requests. */
  readonly intervalMs: number;
  /** Connections, each with one request under way. */
  readonly clients: number;
  /** Requests at the beginning that are not counted. */
  readonly warmUp: number;
  /** File that may be written for the other process. */
  readonly file: string;
  /** Called once the other process writes. */
  readonly onStarted?: () => void;
}

/**
 * Sends requests from another process, one every `intervalMs`; late ones at once.
 *
 * @throws {Error} when one of them was not accepted.
 */
export async function writePaced(options: PacedWrites): Promise<Written> {
  const { port, requests, intervalMs, clients, warmUp, file } = options;
  await Deno.writeFile(file, packRequests(requests));
  await using child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--lock=deno.lock", "--frozen", "--no-prompt", "-A"].concat(
      [
        "bench/paced_writer.ts",
        String(port),
        file,
        String(intervalMs),
        String(clients),
        String(warmUp),
      ],
    ),
    cwd: ROOT,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    // It prints one line when it starts and one when it ends.
    if (text === "") options.onStarted?.();
    text += part;
  }
  const { success } = await child.status;
  if (!success) throw new Error("The writer failed");
  return JSON.parse(text.split("\n")[1]!);
}
