import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { Credentials } from "../../src/client/mod.ts";
import { isObjectId } from "../../src/wire/keys.ts";
import { LABEL_BYTES } from "../../src/wire/limits.ts";
import { Refusal } from "./request_checks.ts";

/** What the dashboard says once the wallet has added the key (docs/protocol.md#14.2); lower case. */
export type Approval = Pick<
  Credentials,
  "accountId" | "walletAddress" | "packageId" | "label"
>;

const malformed = (message: string): Refusal => new Refusal(400, "malformed_json", message);
const invalid = (name: string, form: string): Refusal =>
  new Refusal(400, "invalid_parameter", `${name} must be ${form}`);

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("The body is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw malformed("The body is not a JSON object");
  }
  return value;
}

function id(body: object, name: string): string {
  const value: unknown = Reflect.get(body, name);
  if (typeof value !== "string" || !isObjectId(value)) {
    throw invalid(name, "0x and 64 hex characters");
  }
  return value.toLowerCase();
}

function labelOf(body: object): { label?: string } {
  const label: unknown = Reflect.get(body, "label") ?? "";
  if (typeof label !== "string" || Buffer.byteLength(label) > LABEL_BYTES) {
    throw invalid("label", `a text of at most ${LABEL_BYTES} bytes`);
  }
  const name = label.replace(/[^\P{Cc}]/gu, "").trim();
  return name === "" ? {} : { label: name };
}

function checkState(given: string, expected: string): void {
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) {
    throw new Refusal(403, "state_mismatch", "The state is not that of this sign-in");
  }
}

function stateOf(body: object): string {
  const state: unknown = Reflect.get(body, "state");
  if (typeof state === "string" && /^[0-9a-f]{64}$/.test(state)) return state;
  throw invalid("state", "64 lower-case hex characters");
}

/**
 * Reads the body of `/proof`.
 *
 * @param expected The state of the login, 64 lower-case hex characters.
 * @returns the account id, lower case.
 * @throws {Refusal} 400 for another shape, 403 for another state.
 */
export function parseProofRequest(text: string, expected: string): string {
  const body = parseObject(text);
  const accountId = id(body, "accountId");
  checkState(stateOf(body), expected);
  return accountId;
}

/**
 * Reads the body of `/callback`; `txDigest` and members of other names are of no interest.
 *
 * @param expected The state of the login, 64 lower-case hex characters.
 * @throws {Refusal} 400 for another shape, 403 for another state.
 */
export function parseApproval(text: string, expected: string): Approval {
  const body = parseObject(text);
  const approval = {
    accountId: id(body, "accountId"),
    walletAddress: id(body, "walletAddress"),
    packageId: id(body, "packageId"),
    ...labelOf(body),
  };
  checkState(stateOf(body), expected);
  return approval;
}
