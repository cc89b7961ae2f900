/**
 * A local chain and three key servers with one account. Prints what a cipher must be told as a line
 * of JSON and runs until its standard input ends.
 */
import { delegateKeyOf, keypair, startNetwork } from "../../tests/plugins/sui/seal/network.ts";

const OWNER = 7;
const accountId = "0x" + "1".repeat(64);

const network = await startNetwork();
network.setAccount(accountId, { owner: keypair(OWNER) });
const told = { options: network.options, accountId, credential: delegateKeyOf(OWNER) };
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(told)}\n`));
for await (const _ of Deno.stdin.readable);
Deno.exit(0);
