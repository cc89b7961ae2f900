import { failureOf, SvcConnectionError } from "../../../src/client/failures.ts";
import type { AnswerOf } from "../../../src/wire/route_types.ts";
import type { WebConfig } from "../config.ts";
import type { Owner } from "../owner/owner.ts";
import type { ChainOwner, ChainPlace } from "./main.ts";

/** Built from `main.ts` beside it; not named in an import, so that pages without a chain lack it. */
const MODULE = "chain.js";

async function configOf(relayerUrl: string): Promise<AnswerOf<"GET /config">> {
  const response = await fetch(`${relayerUrl}/config`, { redirect: "error" })
    .catch((cause: unknown) => {
      throw new SvcConnectionError(relayerUrl, undefined, { cause });
    });
  const text = await response.text();
  if (!response.ok) throw failureOf(response, text);
  return JSON.parse(text);
}

/** Loads the code that changes accounts on a chain, and asks the relayer where they are. */
export async function loadChainOwner({ relayerUrl, rpcUrl }: WebConfig): Promise<Owner> {
  const module = await import(`/${MODULE}`) as {
    readonly ChainOwner: new (place: ChainPlace) => ChainOwner;
  };
  const config = await configOf(relayerUrl);
  if (config.registryId === undefined || rpcUrl === undefined) {
    throw new Error("The relayer does not say where its accounts are");
  }
  return new module.ChainOwner({
    network: config.network,
    rpcUrl,
    packageId: config.packageId,
    registryId: config.registryId,
    relayerUrl,
    sponsored: config.sponsorEnabled,
  });
}
