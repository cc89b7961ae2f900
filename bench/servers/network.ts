/**
 * A devnet in a process of its own, with one account and a delegate key that may read and write.
 * Prints `{settings, accountId, seed}` as one line of JSON and ends with its standard input.
 */
import { OnDevnet } from "../../tests/plugins/sui/accounts/on_devnet.ts";

const chain = await OnDevnet.start();
const owner = await chain.wallet();
const accountId = await chain.account(owner);
const key = await chain.key(owner, accountId, ["read", "write"]);
const settings = { ...chain.devnet.settings(), SVC_SPONSOR: "off" };
const line = JSON.stringify({ settings, accountId, seed: key.seed.toHex() });
Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
