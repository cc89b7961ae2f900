import { readFile } from "node:fs/promises";
import process from "node:process";

/** Tables of the connections of a Linux machine, and whose they are. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/**
 * Users of the sockets of this machine that have one port and are connected to another, in the form of
 * proc(5).
 */
export function usersOf(table: string, from: number, to: number): number[] {
  return table.split("\n").slice(1).flatMap((line) => {
    const [, local = "", remote = "", , , , , user] = line.trim().split(/\s+/);
    const isIt = local.endsWith(`:${hexPort(from)}`) && remote.endsWith(`:${hexPort(to)}`);
    return isIt && user !== undefined ? [Number(user)] : [];
  });
}

/** This process's user; `undefined` where there are none, or a sandbox does not tell. */
function ownUser(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    return undefined;
  }
}

/**
 * Whether a connection on this machine comes from a program of this user, or of root: another user may
 * have seen the address that a browser was started with. True where the system does not tell.
 *
 * @param from Port of the program.
 * @param to Port that it is connected to.
 */
export async function isSameUser(from: number, to: number): Promise<boolean> {
  const user = ownUser();
  const tables = await Promise.all(TABLES.map((path) => readFile(path, "utf8").catch(() => "")));
  const users = tables.flatMap((table) => usersOf(table, from, to));
  return user === undefined || users.every((other) => other === user || other === 0);
}
