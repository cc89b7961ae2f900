import { BoundedMap } from "../../bounded_map.ts";
import { SvcError } from "../../errors.ts";
import { timeText } from "../../memory/record.ts";
import { isObjectId, isPublicKey } from "../../wire/keys.ts";
import { LABEL_BYTES } from "../../wire/limits.ts";
import { parseBody } from "../../wire/request_members.ts";
import { nativeBodySha256, personalMessageSigner } from "../../wire/signing/verify.ts";
import {
  newKeyParams,
  OWNER,
  type OWNER_ACTIONS,
  ownerProof,
  removedKeyParams,
} from "../../wire/table/owner.ts";
import type { OwnAddress } from "../own_address.ts";

const CHALLENGE_MS = 300_000;
const MAX_CHALLENGES = 10_000;

export type OwnerAction = typeof OWNER_ACTIONS[number];

type Params = Record<string, unknown>;

interface Challenge {
  readonly owner: string;
  readonly action: OwnerAction;
  readonly paramsHash: string;
  readonly expiresAt: number;
}

/** Members in a fixed order, so that a hash covers the values and not their spelling. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
    return `{${members.map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

function hashOf(value: unknown): string {
  return nativeBodySha256(new TextEncoder().encode(canonical(value)));
}

function invalid(field: string, wanted: string): SvcError {
  return new SvcError("invalid_parameter", `${field} must ${wanted}`, { field });
}

/** What a wallet shows of a text: none of it can begin a line, hide, or turn what stands around. */
function quoted(text: string): string {
  const odd = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}"\\]/gu;
  return `"${text.replace(odd, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`)}"`;
}

function keyLine(publicKey: string): string {
  if (!isPublicKey(publicKey)) throw invalid("params.public_key", "have 64 hex characters");
  return `key: ends in ${publicKey.slice(-8).toLowerCase()}`;
}

function newKeyLines(params: Params): string[] {
  const { params: key } = parseBody(newKeyParams, { params });
  if (new TextEncoder().encode(key.label).length > LABEL_BYTES) {
    throw invalid("params.label", `have at most ${LABEL_BYTES} bytes of UTF-8`);
  }
  const end = key.expires_at === undefined ? "never" : timeText(key.expires_at);
  return [
    "request: add a key to the account",
    keyLine(key.public_key),
    `label: ${quoted(key.label)}`,
    `permissions: ${[...new Set(key.permissions)].join(", ") || "none"}`,
    `key expires: ${end}`,
    ...(key.namespaces === undefined
      ? []
      : [`only for namespaces: ${[...new Set(key.namespaces)].map(quoted).join(", ")}`]),
  ];
}

function removedKeyLines(params: Params): string[] {
  const { params: key } = parseBody(removedKeyParams, { params });
  return ["request: remove a key from the account", keyLine(key.public_key)];
}

/** Says in words what a signature grants; parameters that are none are refused before it. */
const WORDS: Readonly<Record<OwnerAction, (params: Params) => string[]>> = {
  open: () => ["request: open the account, and create it when there is none"],
  create: () => ["request: create an account"],
  add_key: newKeyLines,
  remove_key: removedKeyLines,
  remove_all_keys: () => ["request: remove every key from the account: no app works any more"],
  deactivate: () => ["request: deactivate the account: none of its keys works any more"],
  reactivate: () => ["request: reactivate the account: its keys work again"],
};

/** The open challenges of owners, each for one action with its parameters. */
export class OwnerChallenges {
  readonly #address: OwnAddress;
  readonly #now: () => number;
  readonly #open = new BoundedMap<string, Challenge>(MAX_CHALLENGES);

  constructor(address: OwnAddress, now: () => number) {
    this.#address = address;
    this.#now = now;
  }

  /**
   * A challenge for what a body asks for.
   *
   * @throws {SvcError} `invalid_request`, `invalid_parameter`.
   */
  issue(body: unknown): { challenge: string; expires_at: string } {
    const { address, action, params } = parseBody(OWNER["POST /accounts/challenge"].body, body);
    if (!isObjectId(address)) throw invalid("address", "be 0x and 64 hex characters");
    const now = this.#now();
    this.#open.deleteWhile(({ expiresAt }) => expiresAt <= now);
    const owner = address.toLowerCase();
    const paramsHash = hashOf(params);
    const expiresAt = now + CHALLENGE_MS;
    const challenge = [
      "svc owner request",
      `relayer: ${this.#address.base}`,
      `action: ${action}`,
      `address: ${owner}`,
      `params: ${paramsHash}`,
      ...WORDS[action](params),
      `nonce: ${crypto.getRandomValues(new Uint8Array(32)).toHex()}`,
      `sign before: ${timeText(expiresAt)}`,
    ].join("\n");
    this.#open.set(challenge, { owner, action, paramsHash, expiresAt });
    return { challenge, expires_at: timeText(expiresAt) };
  }

  /**
   * The proven owner and the parameters; a challenge is used up by its first try.
   *
   * @throws {SvcError} `invalid_request`, `owner_proof_invalid`.
   */
  prove(action: OwnerAction, body: unknown): { owner: string; params: Params } {
    const { challenge, signature, params } = parseBody(ownerProof, body);
    const entry = this.#open.get(challenge);
    this.#open.delete(challenge);
    const signer = personalMessageSigner(new TextEncoder().encode(challenge), signature);
    if (
      entry === undefined || entry.expiresAt <= this.#now() || entry.action !== action ||
      entry.paramsHash !== hashOf(params) || signer !== entry.owner
    ) {
      throw new SvcError("owner_proof_invalid");
    }
    return { owner: entry.owner, params };
  }
}
