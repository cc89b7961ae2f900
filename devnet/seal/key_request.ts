import { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { verifyPersonalMessageSignature } from "@mysten/sui/verify";
import { addressBytes, concat } from "../sui/object.ts";
import { programFromBcs } from "../sui/program.ts";
import { SignedRequest } from "./layouts.ts";
import { type G1Point, pointOf } from "./master_key.ts";
import { Refusal } from "./refusal.ts";

const MAX_REQUEST = 180 * 1024;
const MAX_COMMANDS = 100;
const MAX_TTL_MINUTES = 30;
/** How far ahead of the server's clock a certificate may be made, in milliseconds. */
const MAX_AHEAD = 60_000;

/** What a user signed for a session. */
interface Certificate {
  readonly user: string;
  readonly session_vk: string;
  readonly creation_time: number;
  readonly ttl_min: number;
  readonly signature: string;
  readonly mvr_name: string | undefined;
}

/** A request for user keys, as it is sent. */
interface Body {
  readonly ptb: Uint8Array<ArrayBuffer>;
  readonly encKey: Uint8Array<ArrayBuffer>;
  readonly encVerificationKey: Uint8Array<ArrayBuffer>;
  readonly requestSignature: Uint8Array<ArrayBuffer>;
  readonly certificate: Certificate;
}

/** A valid request for user keys; whether the policy grants them is for the chain to say. */
export interface KeyRequest {
  /** The calls of the policy. */
  readonly program: GrpcTypes.ProgrammableTransaction;
  /** Package of all of them. */
  readonly packageId: string;
  /** Who asks. */
  readonly user: string;
  /** Full identities, one per call: package id, then the inner id. */
  readonly fullIds: readonly Uint8Array[];
  /** ElGamal key that the user keys are encrypted to. */
  readonly encKey: G1Point;
}

/** The calls of a policy and the identities they are asked for. */
export type Policy = Pick<KeyRequest, "program" | "packageId" | "fullIds">;

function field(object: object, name: string): unknown {
  return Object.entries(object).find(([key]) => key === name)?.[1];
}

function text(object: object, name: string): string {
  const value = field(object, name);
  if (typeof value !== "string") throw new Refusal("InvalidParameter", `${name} must be a text`);
  return value;
}

function whole(object: object, name: string): number {
  const value = field(object, name);
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new Refusal("InvalidCertificate", `${name} must be a whole number`);
  }
  return value;
}

function base64(object: object, name: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(text(object, name));
  } catch {
    throw new Refusal("InvalidParameter", `${name} must be base64`);
  }
}

function parseBody(bytes: Uint8Array): Body {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    json = undefined;
  }
  if (typeof json !== "object" || json === null) throw new Refusal("InvalidParameter");
  const certificate = field(json, "certificate");
  if (typeof certificate !== "object" || certificate === null) {
    throw new Refusal("InvalidCertificate");
  }
  const name = field(certificate, "mvr_name");
  return {
    ptb: base64(json, "ptb"),
    encKey: base64(json, "enc_key"),
    encVerificationKey: base64(json, "enc_verification_key"),
    requestSignature: base64(json, "request_signature"),
    certificate: {
      user: text(certificate, "user"),
      session_vk: text(certificate, "session_vk"),
      creation_time: whole(certificate, "creation_time"),
      ttl_min: whole(certificate, "ttl_min"),
      signature: text(certificate, "signature"),
      mvr_name: typeof name === "string" ? name : undefined,
    },
  };
}

/**
 * The policy calls of a programmable transaction: 1 to 100 calls of `seal_approve*` functions of one
 * package, whose arguments are inputs only and whose first argument is the inner id.
 *
 * @param ptb BCS of `ProgrammableTransaction`.
 * @throws {Refusal} InvalidPTB.
 */
export function parsePolicy(ptb: Uint8Array): Policy {
  let program: GrpcTypes.ProgrammableTransaction;
  try {
    program = programFromBcs(ptb);
  } catch {
    throw new Refusal("InvalidPTB", "Invalid BCS");
  }
  const { inputs, commands } = program;
  if (inputs.length === 0 || commands.length === 0) {
    throw new Refusal("InvalidPTB", "Empty PTB input or command");
  }
  if (commands.length > MAX_COMMANDS) throw new Refusal("InvalidPTB", "Too many commands");
  let packageId: string | undefined;
  const innerIds = commands.map(({ command }) => {
    if (command.oneofKind !== "moveCall") {
      throw new Refusal("InvalidPTB", "Invalid PTB non move call command");
    }
    const call = command.moveCall;
    const callee = normalizeSuiAddress(call.package ?? "");
    packageId ??= callee;
    if (callee !== packageId || !call.function?.startsWith("seal_approve")) {
      throw new Refusal("InvalidPTB", "Invalid function or package id");
    }
    const used = call.arguments.map((argument) =>
      argument.input === undefined ? undefined : inputs[argument.input]
    );
    if (used.length === 0) throw new Refusal("InvalidPTB", "Empty args");
    if (used.includes(undefined)) throw new Refusal("InvalidPTB", "Invalid argument");
    const id = used[0]?.pure;
    if (id === undefined) {
      throw new Refusal("InvalidPTB", "Invalid first parameter for seal_approve");
    }
    try {
      return new Uint8Array(bcs.byteVector().parse(id));
    } catch {
      throw new Refusal("InvalidPTB", "Invalid BCS for first parameter for seal_approve");
    }
  });
  const id = packageId ?? "";
  return {
    program,
    packageId: id,
    fullIds: innerIds.map((inner) => concat(addressBytes(id), inner)),
  };
}

/** The text that a user signs to open a session. @param creationTime Milliseconds. */
export function sessionMessage(
  packageName: string,
  ttlMinutes: number,
  creationTime: number,
  sessionKey: string,
): string {
  const at = new Date(creationTime).toISOString().slice(0, 19).replace("T", " ");
  return `Accessing keys of package ${packageName} for ${ttlMinutes} mins from ${at} UTC, ` +
    `session key ${sessionKey}`;
}

async function checkCertificate(
  certificate: Certificate,
  packageId: string,
  now: number,
): Promise<void> {
  const { ttl_min: ttl, creation_time: created } = certificate;
  const isTimely = ttl >= 1 && ttl <= MAX_TTL_MINUTES && created <= now + MAX_AHEAD &&
    now < created + ttl * 60_000;
  if (!isTimely) throw new Refusal("InvalidCertificate", "Invalid certificate time or ttl");
  if (certificate.mvr_name !== undefined) {
    throw new Refusal("InvalidMVRName", "this network has no registry of names");
  }
  const message = sessionMessage(packageId, ttl, created, certificate.session_vk);
  try {
    await verifyPersonalMessageSignature(new TextEncoder().encode(message), certificate.signature, {
      address: certificate.user,
    });
  } catch {
    throw new Refusal("InvalidSignature", "Invalid user signature");
  }
}

async function checkRequestSignature(body: Body): Promise<void> {
  const signed = SignedRequest.serialize({
    ptb: body.ptb,
    enc_key: body.encKey,
    enc_verification_key: body.encVerificationKey,
  }).toBytes();
  let isSigned = false;
  try {
    const key = new Ed25519PublicKey(body.certificate.session_vk);
    isSigned = await key.verify(signed, body.requestSignature);
  } catch {
    // No key at all.
  }
  if (!isSigned) throw new Refusal("InvalidSessionSignature", "Invalid session key signature");
}

/**
 * Reads and verifies a request for user keys.
 *
 * @param now Milliseconds since the epoch, by which sessions end.
 * @throws {Refusal} When it is not valid.
 */
export async function parseKeyRequest(bytes: Uint8Array, now: number): Promise<KeyRequest> {
  if (bytes.length > MAX_REQUEST) throw new Refusal("InvalidParameter", "the request is too large");
  const body = parseBody(bytes);
  const policy = parsePolicy(body.ptb);
  await checkCertificate(body.certificate, policy.packageId, now);
  await checkRequestSignature(body);
  let encKey: G1Point;
  try {
    encKey = pointOf(body.encKey);
  } catch {
    throw new Refusal("InvalidParameter", "enc_key is not a point");
  }
  return { ...policy, user: normalizeSuiAddress(body.certificate.user), encKey };
}
