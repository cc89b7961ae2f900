import { outputOf } from "./disk.ts";
import { type Check, type Finding, ok, warning } from "./finding.ts";

/** What a relayer has open besides connections of clients: files, the sidecar, other machines. */
const RESERVE = 256;

/** Whether the system lets the listener have as many connections as it is set to take. */
export const descriptors: Check = {
  name: "descriptors",
  async look({ prepared: { settings }, holder }) {
    const text = holder === undefined ? "" : await outputOf(`cat /proc/${holder}/limits`);
    const running = /^Max open files\s+(\d+)/m.exec(text)?.[1];
    // Deno takes as many as it may have, and programs that it starts have the same limit.
    const limit = running ?? (await outputOf("ulimit -n")).trim();
    if (!/^\d+$/.test(limit)) return [ok(`${limit || "no limit"} for each process`)];
    const whose = running === undefined ? "a process" : "the running relayer";
    return [enough(Number(limit), settings.maxConnections, whose)];
  },
};

/** What is to be said of a limit, for so many connections. */
export function enough(limit: number, connections: number, whose: string): Finding {
  const needed = connections + RESERVE;
  const found = `${whose} may have ${limit} files and connections`;
  if (limit >= needed) return ok(`${found}, ${connections} of them of clients`);
  return warning(
    `${found}, and SVC_MAX_CONNECTIONS is ${connections}`,
    `ulimit -n ${needed} before the start, LimitNOFILE=${needed} for systemd, or ` +
      `SVC_MAX_CONNECTIONS=${Math.max(32, limit - RESERVE)}`,
  );
}
