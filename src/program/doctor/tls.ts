import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { SvcError } from "../../errors.ts";
import { readCertificate } from "../certificate.ts";
import { type Check, type Finding, ok, problem, warning } from "./finding.ts";
import { reasonOf } from "./reason.ts";

const DAY_MS = 86_400_000;
const BLOCK = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Whether clients will accept the certificate. */
export const tls: Check = {
  name: "TLS",
  async look({ prepared: { settings }, now }) {
    const { publicUrl, behindProxy } = settings;
    try {
      const files = await readCertificate(settings);
      if (files === undefined) {
        return [ok(behindProxy.length > 0 ? "a proxy ends it" : "none: for this machine only")];
      }
      const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
      return lookAtCertificate(files.cert, files.key, host, now);
    } catch (error) {
      return [problem(SvcError.from(error).message, "make the file readable for this user")];
    }
  },
};

/**
 * What is to be said of a certificate with its chain, and its key.
 *
 * @param host Name that clients use.
 */
export function lookAtCertificate(
  cert: string,
  key: string,
  host: string | undefined,
  now: number,
): Finding[] {
  let chain: X509Certificate[];
  let isPair: boolean;
  try {
    chain = (cert.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
    isPair = chain[0]?.checkPrivateKey(createPrivateKey(key)) ?? false;
  } catch (error) {
    return [problem(`certificate or key cannot be read: ${reasonOf(error)}`, "make them anew")];
  }
  const [leaf] = chain;
  if (leaf === undefined) {
    return [
      problem("SVC_TLS_CERT_FILE holds no certificate", "name the file with the whole chain"),
    ];
  }
  const found = [
    ...(isPair ? [] : [
      problem(
        "SVC_TLS_KEY_FILE is not the key of SVC_TLS_CERT_FILE",
        "name two files of one certificate",
      ),
    ]),
    ...ofName(leaf, host),
    ...ofDates(leaf, now),
    ...ofChain(chain),
  ];
  const end = new Date(leaf.validTo).toISOString().slice(0, 10);
  return found.length > 0 ? found : [ok(`the certificate fits, and lasts until ${end}`)];
}

function ofName(leaf: X509Certificate, host: string | undefined): Finding[] {
  if (host === undefined) return [];
  const name = host.replace(/^\[|\]$/g, "");
  const covers = isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name);
  if (covers !== undefined) return [];
  return [problem(`the certificate is not for ${name}`, "get one for the host of SVC_PUBLIC_URL")];
}

function ofDates({ validFrom, validTo }: X509Certificate, now: number): Finding[] {
  const left = Date.parse(validTo) - now;
  if (left < 0) return [problem(`the certificate ended on ${validTo}`, "renew it")];
  if (Date.parse(validFrom) > now) {
    return [problem(`the certificate begins on ${validFrom}`, "check this machine's clock")];
  }
  if (left > 14 * DAY_MS) return [];
  const found = `the certificate ends in ${Math.floor(left / DAY_MS)} days`;
  return [warning(found, "renew it; a running relayer takes the new one without a restart")];
}

/** Each certificate must be followed by the one that signed it; a root need not be there. */
function ofChain(chain: readonly X509Certificate[]): Finding[] {
  for (const [n, certificate] of chain.entries()) {
    const signer = chain[n + 1];
    if (signer !== undefined && !certificate.checkIssued(signer)) {
      return [problem(
        `certificate ${n + 2} in SVC_TLS_CERT_FILE did not sign the one before it`,
        "order the file: its own certificate first, then those that signed, one after the other",
      )];
    }
  }
  const [leaf] = chain;
  if (chain.length > 1 || leaf === undefined || leaf.issuer === leaf.subject) return [];
  return [
    warning(
      "SVC_TLS_CERT_FILE holds no certificate of who signed it: some clients refuse that",
      "name the file with the whole chain, such as fullchain.pem",
    ),
  ];
}
