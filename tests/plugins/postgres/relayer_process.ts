import { memory } from "../../../plugins/memory/mod.ts";
import { postgres } from "../../../plugins/postgres/mod.ts";
import { DEFAULT_CONFIG } from "../../../src/interfaces/config.ts";
import { Secret } from "../../../src/interfaces/fields.ts";
import { createRelayer } from "../../../src/relayer.ts";

/**
 * A relayer that keeps everything in a database, in a process that may be killed at any moment.
 *
 * Arguments: address of the database, port.
 */
const [url = "", port = ""] = Deno.args;

const say = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const relayer = await createRelayer({
  relayerKey: new Uint8Array(32).fill(7),
  backends: [memory(), postgres({ url: new Secret(url), connections: 6 })],
  config: { rateLimit: { ...DEFAULT_CONFIG.rateLimit, disabled: true } },
});
const hostname = "127.0.0.1";
relayer.listensAt(`http://${hostname}:${port}`);
Deno.serve({ hostname, port: Number(port), onListen: () => say("ready") }, relayer.fetch);
