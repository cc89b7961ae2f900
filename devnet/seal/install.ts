import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import type { DevnetParts } from "../parts.ts";
import type { Chain } from "../sui/chain.ts";
import { extractWithCommittee, KeyServer } from "./key_server.ts";
import { KeyServerObject, KeyServerV1, KeyServerV2 } from "./layouts.ts";
import { MasterKey, scalarOf } from "./master_key.ts";

/** Number of the only key type, Boneh-Franklin over BLS12-381. */
const KEY_TYPE = 0;

/** A committee of parties that hold shares of one master key. */
export interface CommitteeOptions {
  /** How many parties there are. */
  readonly parties: number;
  /** How many must answer. */
  readonly threshold: number;
}

/** Options of {@linkcode installSeal}. */
export interface SealOptions {
  /** Number of independent servers; 3 when absent. */
  readonly servers?: number;
  /** A committee behind one more server, an aggregator; none when absent. */
  readonly committee?: CommitteeOptions;
  /** Milliseconds since the epoch, by which sessions end; the machine's clock when absent. */
  readonly now?: () => number;
}

/** A key server of the network. */
export interface InstalledKeyServer {
  /** Id of its object. */
  readonly objectId: string;
  /** Base URL: on chain for an independent server; a client must be told an aggregator's. */
  readonly url: string;
  /** Whether it is the aggregator of a committee. */
  readonly isCommittee: boolean;
  /** The server, to make it see an old chain. */
  readonly server: KeyServer;
}

/** Key servers on a chain of one process. */
export interface SealNetwork {
  /** Id of the Seal package. */
  readonly packageId: string;
  /** Servers in the order of their endpoints `keyServer:0`, `keyServer:1`, … */
  readonly keyServers: readonly InstalledKeyServer[];
}

/** Publishes one version of a key server's object. */
function register(
  chain: Chain,
  packageId: string,
  { objectId, version, name, value }: {
    readonly objectId: string;
    readonly version: bigint;
    readonly name: string;
    readonly value: Uint8Array;
  },
): void {
  chain.put({
    id: objectId,
    type: `${packageId}::key_server::KeyServer`,
    owner: { kind: "shared", since: 1n },
    bcs: KeyServerObject.serialize({ id: objectId, first_version: version, last_version: version })
      .toBytes(),
  });
  chain.setField({
    parent: objectId,
    nameType: "u64",
    name: bcs.u64().serialize(version).toBytes(),
    valueType: `${packageId}::key_server::${name}`,
  }, value);
}

/** Publishes the object of an independent server (version 1). */
export function registerIndependent(
  chain: Chain,
  packageId: string,
  objectId: string,
  { name, url, publicKey }: {
    readonly name: string;
    readonly url: string;
    readonly publicKey: Uint8Array;
  },
): void {
  const value = KeyServerV1.serialize({ name, url, key_type: KEY_TYPE, pk: publicKey }).toBytes();
  register(chain, packageId, { objectId, version: 1n, name: "KeyServerV1", value });
}

/** Sets up Seal: the package, the objects of the key servers, and the servers. */
export async function installSeal(
  { chain, faults, seed, serve }: DevnetParts,
  options: SealOptions = {},
): Promise<SealNetwork> {
  const packageId = chain.publish(chain.freshId());
  const keyServers: InstalledKeyServer[] = [];
  const open = async (
    key: MasterKey,
    extract?: ConstructorParameters<typeof KeyServer>[0]["extract"],
  ) => {
    const objectId = normalizeSuiAddress(chain.freshId());
    const server = new KeyServer({
      chain,
      faults,
      objectId,
      key,
      ...(extract === undefined ? {} : { extract }),
      ...(options.now === undefined ? {} : { now: options.now }),
    });
    const endpoint = `keyServer:${keyServers.length}`;
    const url = await serve(endpoint, (request, wrong) => server.handle(request, wrong));
    keyServers.push({ objectId, url, isCommittee: extract !== undefined, server });
    return { objectId, url, name: endpoint };
  };
  for (let index = 0; index < (options.servers ?? 3); index++) {
    const key = new MasterKey(scalarOf(`devnet:${seed}:key-server:${index}`));
    const { objectId, url, name } = await open(key);
    registerIndependent(chain, packageId, objectId, { name, url, publicKey: key.publicKey });
  }
  if (options.committee !== undefined) {
    const { parties, threshold } = options.committee;
    const key = new MasterKey(scalarOf(`devnet:${seed}:committee`));
    const shares = key.shares(parties, threshold, `devnet:${seed}:committee:share`);
    const { objectId, url, name } = await open(key, extractWithCommittee(shares, threshold));
    const value = KeyServerV2.serialize({
      name,
      key_type: KEY_TYPE,
      pk: key.publicKey,
      server_type: {
        Committee: {
          version: 0,
          threshold,
          partial_key_servers: shares.map((share, index) => ({
            name: `party-${index}`,
            url,
            partial_pk: share.publicKey,
            party_id: index,
          })),
        },
      },
    }).toBytes();
    register(chain, packageId, { objectId, version: 2n, name: "KeyServerV2", value });
  }
  return { packageId, keyServers };
}
