/**
 * A devnet in a process of its own, whose relay takes no tips; prints the settings as one line of
 * JSON and ends with its standard input. Argument: shards.
 */
import { startDevnet } from "../devnet/mod.ts";

await using net = await startDevnet({ shards: Number(Deno.args[0]) });
net.walrus.relay.tip = undefined;
const settings = JSON.stringify({
  rpcUrl: net.rpcUrl,
  packageId: net.packageId,
  objects: { systemObjectId: net.walrus.systemId, stakingPoolId: net.walrus.stakingId },
  relayUrl: net.walrus.uploadRelayUrl,
  aggregatorUrls: net.walrus.aggregatorUrls,
  walType: net.walrus.walType,
  privateKeys: net.settings().SVC_SUI_PRIVATE_KEYS,
});
Deno.stdout.writeSync(new TextEncoder().encode(`${settings}\n`));
await Deno.stdin.readable.pipeTo(new WritableStream());
