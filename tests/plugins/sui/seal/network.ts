import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { installSeal, registerIndependent } from "../../../../devnet/seal/install.ts";
import type { CommitteeOptions } from "../../../../devnet/seal/install.ts";
import { listen } from "../../../../devnet/http_server.ts";
import { grpcWeb } from "../../../../devnet/sui/rpc/grpc_web.ts";
import { ChainNode } from "../../../../devnet/sui/rpc/node.ts";
import { installSvcFunctions } from "../../../../devnet/sui/svc_contract.ts";
import { AccountObject, accountType } from "../../../../plugins/sui/chain/account_object.ts";
import type { KeyServer, KeyWorkOptions } from "../../../../plugins/sui/seal/calls.ts";
import { type PartsFixture, startParts } from "../../../devnet/parts_fixture.ts";

/** An account, as far as keys depend on it. */
export interface TestAccount {
  /** Key of the owner. */
  readonly owner: Ed25519Keypair;
  /** Keys of delegates and what they may do (1 read, 2 write). */
  readonly delegates?: readonly {
    readonly key: Ed25519Keypair;
    readonly permissions?: number;
    readonly expiresAt?: number;
    readonly namespaces?: readonly string[];
  }[];
  /** From 1. */
  readonly generation?: number;
  /** Whether it is active. */
  readonly active?: boolean;
}

/** A chain with key servers, on ports of this machine. */
export interface SealTestNetwork extends AsyncDisposable {
  /** Faults (`keyServer:0`, `chain`) and the chain. */
  readonly parts: PartsFixture;
  /** What a cipher must be told. */
  readonly options: KeyWorkOptions;
  /** Id of the Seal package. */
  readonly sealPackage: string;
  /** Writes the object of an account. */
  setAccount(accountId: string, account: TestAccount): void;
  /** Writes another address of a key server into its object. */
  moveServer(index: number, url: string): void;
  /** How often key servers were asked for keys. */
  readonly keyRequests: () => number;
  /** Values of `x-api-key` that each endpoint got. */
  readonly apiKeys: ReadonlyMap<string, ReadonlySet<string | null>>;
}

/** A key pair of one number. */
export function keypair(seed: number): Ed25519Keypair {
  return Ed25519Keypair.fromSecretKey(new Uint8Array(32).fill(seed));
}

/** `x-delegate-key` of {@linkcode keypair}. */
export function delegateKeyOf(seed: number): { delegateKey: string } {
  return { delegateKey: seed.toString(16).padStart(2, "0").repeat(32) };
}

/** Starts a chain with the contract, and key servers. */
export async function startNetwork(
  { servers = 3, committee, timeoutMs = 5_000 }: {
    readonly servers?: number;
    readonly committee?: CommitteeOptions;
    readonly timeoutMs?: number;
  } = {},
): Promise<SealTestNetwork> {
  const base = startParts();
  const { chain, faults, calls } = base;
  let keyRequests = 0;
  const apiKeys = new Map<string, Set<string | null>>();
  const parts: PartsFixture = {
    ...base,
    serve: (endpoint, handler) =>
      base.serve(endpoint, (request, wrong) => {
        if (request.url.endsWith("/v1/fetch_key")) keyRequests++;
        apiKeys.getOrInsertComputed(endpoint, () => new Set()).add(
          request.headers.get("x-api-key"),
        );
        return handler(request, wrong);
      }),
  };
  const packageId = chain.publish(chain.freshId());
  installSvcFunctions(chain, packageId);
  const { keyServers, packageId: sealPackage } = await installSeal(parts, {
    servers,
    ...(committee === undefined ? {} : { committee }),
  });
  const node = new ChainNode(chain, faults, calls);
  const rpc = await listen(
    0,
    async (request) => await grpcWeb(node, request) ?? new Response(null, { status: 404 }),
  );
  const configured = keyServers.map(({ objectId, url, isCommittee }): KeyServer => ({
    objectId,
    weight: 1,
    ...(isCommittee ? { aggregatorUrl: url } : { url }),
  }));
  return {
    parts,
    sealPackage,
    options: {
      network: "localnet",
      rpcUrl: `http://127.0.0.1:${rpc.port}`,
      packageId,
      servers: configured,
      threshold: Math.min(2, configured.length),
      timeoutMs,
    },
    keyRequests: () => keyRequests,
    apiKeys,
    setAccount(accountId, { owner, delegates = [], generation = 1, active = true }) {
      chain.put({
        id: accountId,
        type: accountType(packageId),
        owner: { kind: "shared", since: 1n },
        bcs: AccountObject.serialize({
          id: accountId,
          version: 2,
          owner: owner.toSuiAddress(),
          pending_owner: null,
          created_at: 0,
          active,
          generation,
          delegate_keys: delegates.map((
            { key, permissions = 3, expiresAt = 0, namespaces = [] },
          ) => ({
            public_key: [...key.getPublicKey().toRawBytes()],
            sui_address: key.toSuiAddress(),
            label: "",
            permissions,
            created_at: 0,
            expires_at: expiresAt,
            since_generation: 1,
            namespaces: [...namespaces],
          })),
        }).toBytes(),
      });
    },
    moveServer(index, url) {
      const { objectId } = keyServers[index]!;
      registerIndependent(chain, sealPackage, objectId, {
        name: "moved",
        url,
        publicKey: new Uint8Array(96),
      });
    },
    async [Symbol.asyncDispose]() {
      faults.clear();
      await parts[Symbol.asyncDispose]();
      await rpc[Symbol.asyncDispose]();
    },
  };
}
