import { within } from "../../deadline.ts";
import { pluginPermissions } from "../plugins.ts";
import { withWholePaths } from "../settings/mod.ts";
import { type Check, type Finding, ok, problem, type Subject, warning } from "./finding.ts";
import type { RelayerAnswers } from "./running.ts";

const TIMEOUT_MS = 3000;

/** Whether what the chosen plugins need can be had: by the relayer's word, else by reaching it. */
export const dependencies: Check = {
  name: "dependencies",
  async look(subject) {
    const { running } = subject;
    return running.who === "relayer" ? bySelf(running) : await byReach(subject);
  },
};

/** What a relayer's `/health` says, one finding for all that works. */
export function bySelf({ dependencies }: Pick<RelayerAnswers, "dependencies">): Finding[] {
  const entries = Object.entries(dependencies);
  const troubled = entries.filter(([, { status }]) => status === "down" || status === "degraded");
  const named = (wanted: string) =>
    entries.filter(([, { status }]) => status === wanted).map(([name]) => name).join(", ");
  const off = named("disabled");
  return [
    ok(`working: ${named("ok") || "none"}${off === "" ? "" : `; not in use: ${off}`}`),
    ...troubled.map(([name, { status, reason }]) => {
      const found = `${name} is ${status}${typeof reason === "string" ? `: ${reason}` : ""}`;
      const advice = "docs/operations.md#watching says what goes on without it";
      return status === "down" ? problem(found, advice) : warning(found, advice);
    }),
  ];
}

async function byReach({ prepared, env }: Subject): Promise<Finding[]> {
  const { castings, settings } = prepared;
  const asked = await pluginPermissions(castings, withWholePaths(env, settings), settings.dataDir)
    .catch(() => []);
  const hosts = [...new Set(asked.flatMap(({ net = [] }) => net))];
  const plugins = [...new Set(castings.map(({ name }) => name))].join(", ");
  if (hosts.length === 0) return [ok(`${plugins}: they need no other program`)];
  if (Object.keys(env).some((name) => /^https?_proxy$/i.test(name) && env[name])) {
    return [ok(`not tried from here: HTTPS_PROXY or HTTP_PROXY is set (${hosts.join(", ")})`)];
  }
  return await Promise.all(hosts.map(reach));
}

/** @param host As permissions have it, `host` or `host:port`. */
export async function reach(host: string): Promise<Finding> {
  const [, hostname = host, port = "443"] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  const connected = Deno.connect({
    hostname: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port),
  }).then((connection) => (connection.close(), true), () => false);
  if (await within(TIMEOUT_MS, connected)) return ok(`${host} can be reached`);
  return problem(
    `${host} cannot be reached from here`,
    "start it, or check its setting, the network and the firewall",
  );
}
