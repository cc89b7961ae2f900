import { X509Certificate } from "node:crypto";
import { readCertificate } from "../certificate.ts";
import type { Settings } from "../settings/mod.ts";
import { formatHost } from "../settings/parsers.ts";
import { ask, type Question, type Reply } from "./ask.ts";
import { reasonOf } from "./reason.ts";

/** What a relayer says of itself. */
export interface RelayerAnswers {
  readonly version: string;
  readonly packageId: string;
  /** Its clock, milliseconds since the epoch. */
  readonly clock?: number | undefined;
  readonly dependencies: Readonly<Record<string, { status?: unknown; reason?: unknown }>>;
}

/** Who answers where the relayer listens. */
export type Running =
  | { readonly who: "unknown" }
  | { readonly who: "nobody"; readonly address: string }
  | { readonly who: "stranger"; readonly address: string; readonly reason: string }
  | ({ readonly who: "relayer"; readonly address: string } & RelayerAnswers);

/** The object in an answer; an empty one for anything else. */
export function objectIn({ text }: Reply): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** The version of the relayer that gave an answer of `/version`; `undefined` for a stranger's. */
export function versionIn(reply: Reply): string | undefined {
  const { relayerVersion, apiVersion } = objectIn(reply);
  return reply.status === 200 && typeof relayerVersion === "string" && apiVersion !== undefined
    ? relayerVersion
    : undefined;
}

/** The clock of whoever answered, milliseconds since the epoch. */
export function clockIn(reply: Reply): number | undefined {
  const time = Date.parse(reply.header("date") ?? "");
  return Number.isNaN(time) ? undefined : time;
}

/** Asks whoever listens at the relayer's address on this machine. */
export async function whoAnswers(settings: Settings): Promise<Running> {
  if (settings.port === 0) return { who: "unknown" };
  const hostname = formatHost(settings.host).replace(/^\[|\]$/g, "");
  const to = { ...await localOrigin(settings), at: { hostname, port: settings.port } };
  const address = `${formatHost(settings.host)}:${settings.port}`;
  try {
    const reply = await ask({ ...to, path: "/version" });
    const version = versionIn(reply);
    if (version === undefined) {
      return { who: "stranger", address, reason: `${reply.status} for /version` };
    }
    return { who: "relayer", address, version, clock: clockIn(reply), ...await more(to) };
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return { who: "nobody", address };
    return { who: "stranger", address, reason: reasonOf(error) };
  }
}

async function more(
  to: Omit<Question, "path">,
): Promise<Pick<RelayerAnswers, "packageId" | "dependencies">> {
  const config = objectIn(await ask({ ...to, path: "/config" }));
  const health = objectIn(await ask({ ...to, path: "/health" }));
  return {
    packageId: String(config.packageId ?? ""),
    dependencies: Object(health.dependencies),
  };
}

/** With TLS a name of the certificate itself: whether it is the right one is another check. */
async function localOrigin(settings: Settings): Promise<Pick<Question, "origin" | "trusted">> {
  const plain = { origin: `http://${formatHost(settings.host)}:${settings.port}` };
  try {
    const certificate = await readCertificate(settings);
    if (certificate === undefined) return plain;
    const names = new X509Certificate(certificate.cert).subjectAltName ?? "";
    const name = /DNS:([^,\s]+)/.exec(names)?.[1]?.replace("*", "svc") ?? "localhost";
    return { origin: `https://${name}:${settings.port}`, trusted: [certificate.cert] };
  } catch {
    return plain;
  }
}
