import type { Sponsor } from "../../../../src/interfaces/mod.ts";
import type { Secret } from "../../../../src/interfaces/plugin.ts";
import { openSui, type SuiOptions } from "../../chain/sui_client.ts";
import { gasStation, type GasStationOptions } from "./station.ts";
import { openWallet } from "./wallet.ts";

/** Opens a gas station whose wallet is that of a private key. */
export function openGasStation(
  node: SuiOptions,
  key: Secret,
  options: Pick<GasStationOptions, "maxGasMist" | "log">,
): Sponsor {
  return gasStation({ client: openSui(node), wallet: openWallet(key), ...options });
}
