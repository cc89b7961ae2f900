/// <reference lib="deno.worker" />
import { BlobEncoder } from "@mysten/walrus-wasm";
import type { EncoderAnswer, EncoderRequest } from "./encoder.ts";
import { EncodedMetadata } from "./layouts.ts";
import { sourceSymbols, symbolSize } from "./sizes.ts";

type Metadata = typeof EncodedMetadata.$inferInput["V1"];

/** What the encoder answers: metadata as in BCS, only that a variant without content is a text. */
interface EncodedHashes {
  readonly blob_id: ArrayLike<number>;
  readonly metadata: {
    readonly V1: Pick<Metadata, "unencoded_length" | "hashes"> & { readonly encoding_type: string };
  };
}

function metadataBytes({ metadata: { V1: metadata } }: EncodedHashes): Uint8Array {
  if (metadata.encoding_type !== "RS2") throw new TypeError(`encoding ${metadata.encoding_type}`);
  const V1 = { ...metadata, encoding_type: { RS2: true as const } };
  return EncodedMetadata.serialize({ V1 }).toBytes();
}

/** Bytes of a BCS SliverData: its symbols with their length, symbol size and index. */
function sliverBuffer(symbols: number): Uint8Array {
  let prefix = 1;
  for (let rest = symbols >> 7; rest !== 0; rest >>= 7) prefix++;
  return new Uint8Array(prefix + symbols + 4);
}

const encoders = new Map<number, BlobEncoder>();

function encoderFor(shards: number): BlobEncoder {
  const encoder = encoders.get(shards) ?? new BlobEncoder(shards);
  encoders.set(shards, encoder);
  return encoder;
}

function answer(request: EncoderRequest): EncoderAnswer["result"] {
  const encoder = encoderFor(request.shards);
  switch (request.kind) {
    case "identify": {
      const [blobId, root] = encoder.compute_metadata(request.bytes);
      return { blobId: new Uint8Array(blobId), rootHash: new Uint8Array(root.Digest) };
    }
    case "encode": {
      const size = symbolSize(request.bytes.length, request.shards);
      const { primary, secondary } = sourceSymbols(request.shards);
      const buffers = (symbols: number) =>
        Array.from({ length: request.shards }, () => sliverBuffer(symbols * size));
      const primaries = buffers(secondary);
      const secondaries = buffers(primary);
      const [encoded]: [EncodedHashes] = encoder.encode(request.bytes, primaries, secondaries);
      return {
        blobId: new Uint8Array(encoded.blob_id),
        metadata: metadataBytes(encoded),
        primary: primaries,
        secondary: secondaries,
      };
    }
    case "decode": {
      const bytes = new Uint8Array(request.size);
      encoder.decode(request.blobId, BigInt(request.size), [...request.slivers], bytes);
      return { bytes };
    }
  }
}

self.onmessage = ({ data }: MessageEvent<EncoderRequest & { readonly call: number }>) => {
  try {
    self.postMessage({ call: data.call, result: answer(data) });
  } catch (error) {
    self.postMessage({ call: data.call, error: String(error) });
  }
};
