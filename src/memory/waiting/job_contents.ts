import { SvcError } from "../../errors.ts";
import type { AcceptedJob, MemoryLink, SealContext, Sealed } from "../../interfaces/mod.ts";
import type { Sealer } from "../../interfaces/plugin.ts";
import type { LiveJob, Waiting } from "../../jobs/job.ts";
import type { Staging } from "../../jobs/staging.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { Metadata } from "../record.ts";
import type { PayloadKeys } from "./payload_keys.ts";

/** What waits, sealed, until a worker takes it. */
export type Payload = TextPayload | {
  readonly kind: "manual";
  readonly vector: Float32Array;
  /** Model the relayer had when the vector was accepted; absent = the present one. */
  readonly model?: string;
  readonly data: Uint8Array;
  /** Set instead of `data` when the client stored the blob itself. */
  readonly blobId?: string;
  readonly metadata?: Metadata;
};

/** What a memory says. */
export interface TextPayload {
  readonly kind: "text";
  readonly text: string;
  readonly metadata?: Metadata;
  /** What it is about, such as `me/home city`. */
  readonly key?: string;
  /** Links that came with it from elsewhere: an import has more of them than fit into its jobs. */
  readonly links?: readonly MemoryLink[];
  /** Where it was said, as the record has it. */
  readonly session?: string;
  readonly position?: number;
}

/** The payload of a text. */
export function textPayload(
  { text, metadata, key, links, session, position }:
    & {
      readonly [K in Exclude<keyof TextPayload, "kind" | "text">]?: TextPayload[K] | undefined;
    }
    & Pick<TextPayload, "text">,
): TextPayload {
  return {
    kind: "text",
    text,
    ...(metadata === undefined ? {} : { metadata }),
    ...(key === undefined ? {} : { key }),
    ...(links === undefined ? {} : { links }),
    ...(session === undefined ? {} : { session }),
    ...(position === undefined ? {} : { position }),
  };
}

/** A worker's result: saved before its first effect, so that every retry uses the same bytes. */
export interface Step {
  readonly vectors: readonly Float32Array[];
  /** Model they are of. */
  readonly model: string;
  /** The sealed record, its key id and its wrapped key. */
  readonly sealed: Sealed;
  /** The links that the record has. */
  readonly links?: readonly MemoryLink[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Head of a payload that is a text alone: nearly all are. */
const TEXT_HEAD = encoder.encode('{"kind":"text"}');

/** Parts framed as `count (1) | length (4, big endian) each | parts`. */
function frame(parts: readonly Uint8Array[]): Uint8Array {
  const head = 1 + 4 * parts.length;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, head));
  const view = new DataView(bytes.buffer);
  bytes[0] = parts.length;
  let at = head;
  for (const [i, part] of parts.entries()) {
    view.setUint32(1 + 4 * i, part.length);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function unframe(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes[0] ?? 0;
  const parts: Uint8Array[] = [];
  let at = 1 + 4 * count;
  for (let i = 0; i < count; i++) {
    const end = at + view.getUint32(1 + 4 * i);
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return parts;
}

function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

function vectorOf(bytes: Uint8Array): Float32Array {
  // A copy: the part may lie at an odd offset.
  return new Float32Array(bytes.slice().buffer);
}

/** What seals one part of a payload. */
type SealPart = (bytes: Uint8Array) => Uint8Array;

/** @param sealSaid Seals what a caller says of a ciphertext of its own, where the rest must not hide it. */
function encodePayload(payload: Payload, sealSaid?: SealPart): Uint8Array {
  if (payload.kind === "text") {
    const { text, ...rest } = payload;
    const isPlain = Object.keys(rest).length === 1;
    const head = isPlain ? TEXT_HEAD : encoder.encode(JSON.stringify(rest));
    return frame([head, encoder.encode(text)]);
  }
  const { blobId, model, metadata } = payload;
  const head = { kind: "manual", blobId, model, metadata: sealSaid ? undefined : metadata };
  const said = sealSaid && metadata ? [sealSaid(encoder.encode(JSON.stringify(metadata)))] : [];
  const parts = [encoder.encode(JSON.stringify(head)), payload.data, vectorBytes(payload.vector)];
  return frame([...parts, ...said]);
}

/**
 * A payload from its bytes.
 *
 * @param openSaid Opens the metadata of a client's own ciphertext; without it they are left out.
 * @throws {SvcError} `storage_unavailable`, not retryable, when they are damaged.
 */
function decodePayload(bytes: Uint8Array, openSaid?: SealPart): Payload {
  try {
    const [head, body, vector, sealed] = unframe(bytes);
    const { kind, blobId, model, metadata: plain, ...said } = JSON.parse(decoder.decode(head)) as {
      kind: string;
      blobId?: string;
      model?: string;
      metadata?: Metadata;
      key?: string;
      links?: readonly MemoryLink[];
      session?: string;
      position?: number;
    };
    const metadata: Metadata | undefined = sealed === undefined || openSaid === undefined
      ? plain
      : JSON.parse(decoder.decode(openSaid(sealed)));
    const meta = metadata === undefined ? {} : { metadata };
    if (kind === "text" && body !== undefined) {
      return textPayload({ ...said, text: decoder.decode(body), metadata });
    }
    if (kind === "manual" && body !== undefined && vector !== undefined) {
      const blob = blobId === undefined ? {} : { blobId };
      const made = model === undefined ? {} : { model };
      return { kind, data: body, vector: vectorOf(vector), ...made, ...blob, ...meta };
    }
  } catch {
    // Falls through: the parser's message may quote the text.
  }
  throw new SvcError("storage_unavailable", "The payload is damaged", { retryable: false });
}

function encodeStep({ vectors, model, sealed, links = [] }: Step): Uint8Array {
  const head = encoder.encode([sealed.keyId, model, JSON.stringify(links)].join("\n"));
  return frame([head, sealed.wrappedKey, sealed.record, ...vectors.map(vectorBytes)]);
}

/**
 * A step's result from its bytes.
 *
 * @throws {SvcError} `storage_unavailable`, not retryable, when they are damaged.
 */
function decodeStep(bytes: Uint8Array): Step {
  const [head, wrappedKey, record, ...vectors] = unframe(bytes);
  if (head === undefined || wrappedKey === undefined || record === undefined) {
    throw new SvcError("storage_unavailable", "The saved step is damaged", { retryable: false });
  }
  // An earlier version saved no links.
  const [keyId = "", model = "", links = "[]"] = decoder.decode(head).split("\n");
  return {
    vectors: vectors.map(vectorOf),
    model,
    sealed: { keyId, wrappedKey, record },
    links: JSON.parse(links),
  };
}

/** Bytes above this are sealed and opened on the thread pool. */
const LARGE_BYTES = 64 * 1024;

async function seal(sealer: Sealer, bytes: Uint8Array, id: string): Promise<Uint8Array> {
  return bytes.length > LARGE_BYTES ? await sealer.sealLarge(bytes, id) : sealer.seal(bytes, id);
}

async function open(sealer: Sealer, bytes: Uint8Array, id: string): Promise<Uint8Array> {
  return bytes.length > LARGE_BYTES ? await sealer.openLarge(bytes, id) : sealer.open(bytes, id);
}

/** What is kept of a payload in its job. */
type Staged = Pick<AcceptedJob, "payload" | "payloadKey">;

/**
 * What jobs hold on disk, sealed: payloads under keys that the relayer key does not open where opening
 * a memory takes a credential, all else under the relayer key. Other threads seal large bytes.
 */
export class JobContents {
  readonly #jobs: Pick<Jobs, "payload" | "loadStep" | "saveStep">;
  readonly #staging: Pick<Staging, "put">;
  readonly #keys: Pick<PayloadKeys, "current" | "sealer">;
  readonly #payloads: Sealer;
  readonly #steps: Sealer;

  constructor(
    jobs: Pick<Jobs, "payload" | "loadStep" | "saveStep">,
    staging: Pick<Staging, "put">,
    keys: Pick<PayloadKeys, "current" | "sealer">,
    sealer: (purpose: string) => Sealer,
  ) {
    this.#jobs = jobs;
    this.#staging = staging;
    this.#keys = keys;
    this.#payloads = sealer("payload");
    this.#steps = sealer("step");
  }

  /**
   * Seals the payload of a job that is about to be accepted, and writes one of more than `inlineBytes`
   * to disk.
   *
   * @throws {SvcError} `storage_unavailable`; what the cipher throws, where it has to be asked.
   */
  async stage(
    id: string,
    payload: Payload,
    inlineBytes: number,
    context: Omit<SealContext, "memoryId">,
  ): Promise<Staged> {
    const isOwn = payload.kind === "manual";
    // What a client encrypted itself needs no key of ours: it comes back without a credential.
    const isBare = isOwn && payload.metadata === undefined;
    const key = isBare ? undefined : await this.#keys.current(context);
    const plain = encodePayload(payload, key && ((bytes) => key.sealer.seal(bytes, id)));
    const sealer = isOwn ? this.#payloads : key?.sealer ?? this.#payloads;
    // The key lies beside what is inline.
    const room = Math.max(0, inlineBytes - (key?.sealed.length ?? 0));
    const stored = await this.#staging.put(await seal(sealer, plain, id), room);
    return { payload: stored, ...(key === undefined ? {} : { payloadKey: key.sealed }) };
  }

  /**
   * What waits for a job.
   *
   * @param sealed The bytes, where they are read already.
   * @throws {SvcError} `storage_unavailable`; why the job is locked.
   */
  async payload(waiting: Waiting, sealed?: Uint8Array): Promise<Payload> {
    const { lock, job: { id, source, payloadKey } } = waiting;
    if (lock !== undefined) throw lock;
    const key = payloadKey === undefined ? undefined : this.#keys.sealer(payloadKey);
    const sealer = source === "manual" ? this.#payloads : key ?? this.#payloads;
    const bytes = await open(sealer, sealed ?? await this.#jobs.payload(waiting), id);
    return decodePayload(bytes, key && ((said) => key.open(said, id)));
  }

  /**
   * What a client encrypted itself and waits for a job, locked or not, without its metadata.
   *
   * @throws {SvcError} `storage_unavailable`.
   */
  async ownCiphertext(waiting: Waiting): Promise<Payload> {
    const bytes = await this.#jobs.payload(waiting);
    return decodePayload(await open(this.#payloads, bytes, waiting.job.id));
  }

  /** Saves what a job made. Throws as {@linkcode Jobs.saveStep}. */
  async saveStep(live: LiveJob, step: Step): Promise<void> {
    const sealed = await seal(this.#steps, encodeStep(step), `step ${live.job.id}`);
    await this.#jobs.saveStep(live, sealed);
  }

  /** What an unfinished job made, or an ended one that is its only copy. */
  async step(id: string): Promise<Step | undefined> {
    const sealed = await this.#jobs.loadStep(id);
    if (sealed === undefined) return undefined;
    return decodeStep(await open(this.#steps, sealed, `step ${id}`));
  }
}
