import type { Faults } from "../faults.ts";
import type { Chain } from "../sui/chain.ts";
import { addressBytes } from "../sui/object.ts";
import { type KeyRequest, parseKeyRequest } from "./key_request.ts";
import {
  combine,
  type Encrypted,
  encryptTo,
  type G1Point,
  identityPoint,
  type MasterKey,
} from "./master_key.ts";
import { answer, Refusal } from "./refusal.ts";

/** How old the chain a server sees may be, in milliseconds. */
const MAX_STALENESS = 120_000;

/** Makes encrypted user keys of identities. */
export type Extract = (fullId: Uint8Array, encKey: G1Point) => Encrypted;

/** User keys of one master key. */
export function extractWith(key: MasterKey): Extract {
  return (fullId, encKey) => encryptTo(encKey, key.extract(fullId));
}

/** User keys of a committee: `threshold` of its parties answer, their answers are combined. */
export function extractWithCommittee(shares: readonly MasterKey[], threshold: number): Extract {
  return (fullId, encKey) => {
    const partials = new Map<number, Encrypted>();
    // The last parties answer: their numbers are not 1, 2, …, so that the coefficients matter.
    for (let party = shares.length; partials.size < threshold && party > 0; party--) {
      const share = shares[party - 1];
      if (share !== undefined) partials.set(party, encryptTo(encKey, share.extract(fullId)));
    }
    return combine(partials);
  };
}

/** What a key server runs on. */
export interface KeyServerOptions {
  /** The chain that policies are evaluated on. */
  readonly chain: Chain;
  /** Faults: a server sees no chain while `chain` is down. */
  readonly faults: Faults;
  /** Id of its object. */
  readonly objectId: string;
  /** Its key. */
  readonly key: MasterKey;
  /** How it makes user keys; with its key when absent. */
  readonly extract?: Extract;
  /** Milliseconds since the epoch, for sessions; the machine's clock when absent. */
  readonly now?: () => number;
}

/** A Seal key server, or the aggregator of a committee: `/v1/service` and `/v1/fetch_key`. */
export class KeyServer {
  readonly #options: KeyServerOptions;
  readonly #extract: Extract;
  /** How old the chain it sees is, in milliseconds. */
  staleness = 0;

  /** A key server. */
  constructor(options: KeyServerOptions) {
    this.#options = options;
    this.#extract = options.extract ?? extractWith(options.key);
  }

  /** Answers a request. @param wrong Keys of another master key, and a proof of another object. */
  async handle(request: Request, wrong: boolean): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    try {
      if (pathname.endsWith("/v1/service") && request.method === "GET") {
        return this.#service(searchParams.get("service_id"), wrong);
      }
      if (pathname.endsWith("/v1/fetch_key") && request.method === "POST") {
        return await this.#fetchKey(new Uint8Array(await request.arrayBuffer()), wrong);
      }
    } catch (error) {
      if (error instanceof Refusal) return error.toResponse();
      throw error;
    }
    return new Response("not found", { status: 404 });
  }

  #service(serviceId: string | null, wrong: boolean): Response {
    const { objectId, key } = this.#options;
    if (serviceId !== objectId) throw new Refusal("InvalidServiceId");
    const proven = addressBytes(wrong ? "0x1" : objectId);
    return answer({ service_id: objectId, pop: key.possession(proven).toBase64() });
  }

  async #fetchKey(bytes: Uint8Array, wrong: boolean): Promise<Response> {
    const now = this.#options.now ?? Date.now;
    const request = await parseKeyRequest(bytes, now());
    this.#evaluate(request);
    return answer({
      decryption_keys: request.fullIds.map((fullId) => {
        const key = wrong
          ? encryptTo(request.encKey, identityPoint(fullId))
          : this.#extract(fullId, request.encKey);
        return {
          id: [...fullId],
          encrypted_key: key.map((point) => point.toBytes().toBase64()),
        };
      }),
    });
  }

  /** Runs the policy on the chain as the user who asks. */
  #evaluate({ program, packageId, user }: KeyRequest): void {
    const { chain, faults } = this.#options;
    const lost = faults.get("chain")?.kind;
    if (lost === "down" || lost === "hang" || lost === "status") {
      throw new Refusal("Failure", "the full node cannot be reached");
    }
    if (this.staleness > MAX_STALENESS) throw new Refusal("Failure", "the full node is stale");
    if (chain.object(packageId)?.type !== "package") throw new Refusal("InvalidPackage");
    for (const { objectId } of program.inputs) {
      if (objectId !== undefined && chain.object(objectId) === undefined) {
        throw new Refusal("InvalidParameter", "an object is not known to the full node");
      }
    }
    const { failure } = chain.dryRun(program, { sender: user, digest: "seal" });
    if (failure === undefined) return;
    throw failure.kind === "MOVE_ABORT"
      ? new Refusal("NoAccess", failure.message)
      : new Refusal("InvalidPTB", failure.message);
  }
}
