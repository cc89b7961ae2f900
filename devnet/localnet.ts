/**
 * Starts a development network and the program on it: accounts on a chain, keys with a threshold
 * service, memories in a decentralized store, on one machine and without the network.
 *
 * `LOCALNET_DIR` is the folder both keep their data in, `~/.svc/localnet` by default;
 * `LOCALNET_PORT` the port of the chain's node, 9100, where 0 means any free one.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { homeFolder } from "../src/home_folder.ts";
import { onStopSignal } from "../src/program/process_events.ts";
import { type Devnet, startDevnet } from "./mod.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const IS_WINDOWS = Deno.build.os === "windows";

function folder(): string {
  const chosen = Deno.env.get("LOCALNET_DIR");
  if (chosen !== undefined && chosen !== "") return chosen;
  const home = homeFolder({
    HOME: Deno.env.get("HOME"),
    USERPROFILE: Deno.env.get("USERPROFILE"),
  });
  if (home === "") throw new Error("LOCALNET_DIR is needed where HOME is not set");
  return `${home}/.svc/localnet`;
}

/** Port of the node: a fixed one, so that other programs find it again after a start. */
function port(): number {
  const chosen = Deno.env.get("LOCALNET_PORT") || "9100";
  if (!/^\d{1,5}$/.test(chosen)) throw new Error("LOCALNET_PORT must be a port");
  return Number(chosen);
}

async function startNetwork(dataDir: string): Promise<Devnet> {
  const wanted = port();
  try {
    return await startDevnet({ dataDir, ...(wanted === 0 ? {} : { port: wanted }) });
  } catch (cause) {
    const taken = cause instanceof Error && /EADDRINUSE|AddrInUse/.test(`${cause.name} ${cause}`);
    if (!taken) throw cause;
    const text = `A port from ${wanted} on is in use: set LOCALNET_PORT to another\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(text));
    Deno.exit(1);
  }
}

/** What terminal commands and other programs need besides the program. */
function tell({ rpcUrl, faucetUrl, packageId, registryId }: Devnet): void {
  const lines = [
    `network: faucet ${faucetUrl} (POST {"address": "0x…"}); for commands of the terminal:`,
    `export SVC_ACCOUNTS=sui SVC_SUI_RPC_URL=${rpcUrl}`,
    `export SVC_PACKAGE_ID=${packageId} SVC_REGISTRY_ID=${registryId}`,
  ];
  Deno.stdout.writeSync(new TextEncoder().encode(`${lines.join("\n")}\n`));
}

/** The program with the network's settings; what the user set himself counts more. */
function startProgram(settings: Readonly<Record<string, string>>, dir: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    cwd: ROOT,
    args: [
      "run",
      "--lock=deno.lock",
      "--frozen",
      "--no-code-cache",
      "--no-prompt",
      "--allow-env",
      "--allow-read",
      "--allow-write",
      "--allow-run",
      "--allow-net",
      "main.ts",
      "start",
    ],
    env: {
      SVC_DATA_DIR: `${dir}/relayer`,
      SVC_RELAYER_KEY_FILE: `${dir}/relayer.key`,
      ...settings,
      ...Deno.env.toObject(),
    },
  }).spawn();
}

if (import.meta.main) {
  const dir = folder();
  await Deno.mkdir(`${dir}/network`, { recursive: true, mode: 0o700 });
  await using network = await startNetwork(`${dir}/network`);
  tell(network);
  const program = startProgram(network.settings(), dir);
  let ended = false;
  using _signals = onStopSignal(() => {
    // The terminal sends Ctrl+C to the whole group; a supervisor may signal this process alone,
    // but on Windows, where a signal of ours would end the program without its say.
    if (!ended && !IS_WINDOWS) program.kill("SIGTERM");
  });
  const { code } = await program.status;
  ended = true;
  Deno.exitCode = code;
}
