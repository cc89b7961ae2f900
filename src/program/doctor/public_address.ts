import { VERSION } from "../../wire/version.ts";
import type { Settings } from "../settings/mod.ts";
import { isOfThisMachine } from "../settings/checks.ts";
import { ask, type Reply } from "./ask.ts";
import { type Check, type Finding, ok, problem, type Subject, warning } from "./finding.ts";
import { reasonOf } from "./reason.ts";
import { objectIn, versionIn } from "./running.ts";

/** Says that the request comes from the relayer's own machine. */
const FORGED = {
  "x-forwarded-for": "127.0.0.1",
  "x-real-ip": "127.0.0.1",
  forwarded: "for=127.0.0.1",
};

/** Asks `SVC_PUBLIC_URL` as a client would, from this machine. */
export const publicAddress: Check = {
  name: "public address",
  async look(subject) {
    const { publicly, prepared: { settings } } = subject;
    if (publicly === undefined) return [];
    const { publicUrl } = settings;
    if (publicUrl === undefined) {
      return [problem("SVC_PUBLIC_URL is not set", "set it to the address that clients use")];
    }
    if (publicly instanceof Error) {
      return [
        problem(
          `${publicUrl}: ${reasonOf(publicly)}`,
          "check name, port, firewall and certificate; a client on another machine may have more " +
            "luck than this one",
        ),
      ];
    }
    const identity = await whoIsIt(publicUrl, publicly, subject);
    if (identity.state === "problem") return [identity];
    return [
      identity,
      ...ofTransport(publicUrl, publicly),
      ...await plainly(publicUrl),
      ...await closed(publicUrl, settings),
    ];
  },
};

async function whoIsIt(
  publicUrl: string,
  reply: Reply,
  { packageId }: Subject,
): Promise<Finding> {
  const version = versionIn(reply);
  if (version === undefined) {
    return problem(
      `${publicUrl} is no relayer: ${reply.status} for /version`,
      "let the proxy pass every path on to the relayer",
    );
  }
  const config = objectIn(await ask({ origin: publicUrl, path: "/config" }));
  if (packageId !== undefined && config.packageId !== packageId) {
    return problem(
      `${publicUrl} is another relayer: its accounts are not those of this data directory`,
      "set SVC_PUBLIC_URL to this relayer's address, or the proxy to this relayer",
    );
  }
  if (version !== VERSION) {
    return warning(`${publicUrl} is version ${version}, installed is ${VERSION}`, "restart it");
  }
  const found = `${publicUrl} is a relayer of version ${version}`;
  return ok(packageId === undefined ? found : `${found}, with the accounts of this data directory`);
}

function ofTransport(publicUrl: string, reply: Reply): Finding[] {
  if (publicUrl.startsWith("http:") && isOfThisMachine(publicUrl)) {
    return [ok("it is an address of this machine, and needs no TLS")];
  }
  if (publicUrl.startsWith("http:")) {
    return [problem(`${publicUrl} has no TLS`, "set SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE")];
  }
  if (reply.header("strict-transport-security") !== null || isOfThisMachine(publicUrl)) {
    return [ok("its certificate is accepted here")];
  }
  return [
    warning(
      "browsers are not told to come by TLS only",
      "let the proxy add strict-transport-security: max-age=31536000",
    ),
  ];
}

/** Without TLS there should be nobody, or a redirect. */
async function plainly(publicUrl: string): Promise<Finding[]> {
  const { protocol, port, hostname } = new URL(publicUrl);
  if (protocol !== "https:" || port !== "") return [];
  let reply: Reply;
  try {
    reply = await ask({ origin: `http://${hostname}`, path: "/version" });
  } catch {
    return [ok("nothing answers without TLS")];
  }
  if (versionIn(reply) === undefined) return [ok("without TLS the relayer is not reached")];
  return [
    problem(
      `http://${hostname} reaches the relayer without TLS`,
      `let the proxy redirect it to ${publicUrl}`,
    ),
  ];
}

/** What only this machine may do, a client of the public address must not. */
async function closed(publicUrl: string, settings: Settings): Promise<Finding[]> {
  if (isOfThisMachine(publicUrl)) return [];
  const { metricsPublic, openRegistration, webUrl } = settings;
  const metrics = { origin: publicUrl, path: "/metrics" };
  const plain = await ask(metrics);
  const forged = await ask({ ...metrics, headers: FORGED });
  const account = await ask({
    origin: publicUrl,
    path: "/accounts",
    method: "POST",
    headers: { "content-type": "application/json", origin: new URL(webUrl).origin },
    // The proof is looked at after the caller: nothing can come of this one.
    body: JSON.stringify({ challenge: "x", signature: "x", params: {} }),
  });
  const isRegistering = objectIn(account).code === "owner_proof_invalid";
  return [
    said("/metrics", plain, plain.status === 200, metricsPublic),
    said("/metrics with forged X-Forwarded-For", forged, forged.status === 200, metricsPublic),
    said("registration", account, isRegistering, openRegistration),
  ];
}

function said(what: string, { status }: Reply, isOpen: boolean, isMeant: boolean): Finding {
  if (!isOpen) return ok(`${what} is closed (${status})`);
  const found = `${what} is open to everybody`;
  if (isMeant) return warning(found, "the settings say so; the proxy may refuse the path");
  return problem(found, "name the proxy in SVC_BEHIND_PROXY, and restart the relayer");
}
