import { fileURLToPath } from "node:url";
import { poll } from "./within.ts";

const PROGRAMS = { haproxy: "/usr/sbin/haproxy", caddy: "/usr/bin/caddy" } as const;

/** A balancer of `deploy/cluster`. */
export type BalancerName = keyof typeof PROGRAMS;

/** Both. */
export const BALANCERS: readonly BalancerName[] = ["haproxy", "caddy"];

const FILES = {
  haproxy: fileURLToPath(new URL("../deploy/cluster/haproxy.cfg", import.meta.url)),
  caddy: fileURLToPath(new URL("../deploy/cluster/Caddyfile", import.meta.url)),
} as const;

/** Arguments by what is done with the file. */
const ARGUMENTS = {
  haproxy: { check: ["-c", "-f", FILES.haproxy], run: ["-db", "-f", FILES.haproxy] },
  caddy: {
    check: ["validate", "--adapter", "caddyfile", "--config", FILES.caddy],
    run: ["run", "--adapter", "caddyfile", "--config", FILES.caddy],
  },
} as const;

/** Why a balancer cannot be tested with; `undefined` where it is installed. */
export function missing(name: BalancerName): string | undefined {
  try {
    Deno.statSync(PROGRAMS[name]);
    return undefined;
  } catch {
    return `no ${name} is installed (apt-get install ${name})`;
  }
}

/** Addresses, host and port, that a balancer of `deploy/cluster` is told in its environment. */
export interface BalancerAddresses {
  /** Where it listens. */
  readonly front: string;
  /** Of the relayers, in the order of their numbers. */
  readonly relayers: readonly [string, string, string];
  /** A command as it runs on the balancer's machine; as it is when absent. */
  readonly on?: (command: readonly string[]) => readonly [string, ...string[]];
}

/** A command with the environment of an operator, and a folder of its own for what it keeps. */
function command(
  name: BalancerName,
  what: "check" | "run",
  { front, relayers, on = ([program = "", ...args]) => [program, ...args] }: BalancerAddresses,
  home: string,
): Deno.Command {
  const [program, ...args] = on([PROGRAMS[name], ...ARGUMENTS[name][what]]);
  const env = Object.fromEntries(
    relayers.map((address, i) => [`RELAYER_${i + 1}`, address]),
  );
  return new Deno.Command(program, {
    args,
    clearEnv: true,
    // The port of Caddy's interface for operators would be the same for all tests.
    env: {
      ...env,
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: home,
      CADDY_ADMIN: "off",
      BIND: front,
      MEMORY_HOST: `http://${front}`,
    },
    stdin: "null",
    stdout: what === "check" ? "piped" : "null",
    stderr: what === "check" ? "piped" : "null",
  });
}

/** What a balancer says of its file, and whether it would start with it. */
export async function checkFile(
  name: BalancerName,
  addresses: BalancerAddresses,
): Promise<{ readonly success: boolean; readonly said: string }> {
  const home = await Deno.makeTempDir();
  try {
    const { success, stdout, stderr } = await command(name, "check", addresses, home).output();
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    return { success, said };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

/** Starts a balancer with its file as it is, and waits until it passes requests on. */
export async function startBalancer(
  name: BalancerName,
  addresses: BalancerAddresses,
): Promise<AsyncDisposable> {
  const home = await Deno.makeTempDir();
  const process = command(name, "run", addresses, home).spawn();
  const url = `http://${addresses.front}/version`;
  const status = () =>
    fetch(url).then(async (answer) => {
      await answer.body?.cancel();
      return answer.status;
    }, () => 0);
  const ended = process.status.then(() => Promise.reject(new Error(`${name} ended at once`)));
  ended.catch(() => {});
  await Promise.race([poll(status, (answered) => answered === 200), ended]);
  return {
    async [Symbol.asyncDispose]() {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}
