import { SvcError } from "../../errors.ts";
import { verifyStrict } from "./verify.ts";

/** What whoever made a bundle says of it (docs/protocol.md#13.5). Times are RFC 3339, UTC. */
export interface BundleStatement {
  /** Version of this form. */
  readonly v: 1;
  /** What it is about. */
  readonly type: "svc-bundle";
  /** Form of the lines. */
  readonly format: string;
  /** Account whose memories they are. */
  readonly account_id: string;
  /** Key of the account that signed, 64 hex characters. */
  readonly public_key: string;
  /** When it was signed. */
  readonly created_at: string;
  /** Lines before the signature. */
  readonly lines: number;
  /** How many of them are memories. */
  readonly memories: number;
  /** How many are earlier versions of them. */
  readonly versions: number;
  /** How many stand for memories or versions that could not be opened. */
  readonly errors: number;
  /** SHA-256 of the lines, each with its line feed; 64 hex characters. */
  readonly sha256: string;
}

/** The last line of a bundle. */
export interface BundleSignature {
  readonly type: "signature";
  /** JSON of a {@linkcode BundleStatement}, exactly as it was signed. */
  readonly statement: string;
  /** Ed25519, 128 hex characters, over `svc-bundle-v1:` and the UTF-8 of the statement. */
  readonly signature: string;
}

const encoder = new TextEncoder();

/** What the signature of a statement covers. */
export function bundleMessage(statement: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`svc-bundle-v1:${statement}`);
}

const isHex = (value: unknown, digits: number): value is string =>
  typeof value === "string" && value.length === digits && /^[0-9a-f]*$/.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isTime = (value: unknown): boolean =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));

function isStatement(value: unknown): value is BundleStatement {
  const said = Object(value) as Partial<Record<keyof BundleStatement, unknown>>;
  const { v, type, format, account_id, public_key, created_at, sha256 } = said;
  return v === 1 && type === "svc-bundle" && typeof format === "string" &&
    typeof account_id === "string" && /^0x[0-9a-f]{64}$/.test(account_id) &&
    isHex(public_key, 64) && isTime(created_at) && isHex(sha256, 64) &&
    [said.lines, said.memories, said.versions, said.errors].every(isCount);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * What the last line of a bundle says, once its signature is checked. Whether the lines are those
 * that it speaks of is left to whoever reads them.
 *
 * @throws {SvcError} `signature_invalid` when the key did not sign it, `invalid_parameter` when it is
 * no such line.
 */
export function verifyBundleSignature(line: string): BundleStatement {
  const { type, statement, signature } = Object(parse(line)) as Partial<BundleSignature>;
  const said = typeof statement === "string" ? parse(statement) : undefined;
  if (type !== "signature" || !isHex(signature, 128) || !isStatement(said)) {
    throw new SvcError("invalid_parameter", "This is no signature of a bundle");
  }
  const message = bundleMessage(String(statement));
  if (!verifyStrict(said.public_key, message, Uint8Array.fromHex(signature))) {
    throw new SvcError("signature_invalid", "The signature is not of the key it names");
  }
  return said;
}
