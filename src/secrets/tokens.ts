import type { Finding, SecretKind } from "./kinds.ts";
import { looksRandom } from "./plausible.ts";

/** How keys of one form look: one of the beginnings, and what follows it. */
interface TokenForm {
  readonly kind: SecretKind;
  readonly starts: readonly string[];
  /**
   * Sticky. It reads on only where it takes what it has read, or stops after a bounded number of
   * characters: the time of a search is then linear in the text.
   */
  readonly rest: RegExp;
}

const NO_NAME = /[A-Z\d]/;
const CODE = /[\w-]{20,}/y;

/**
 * Forms that vendors publish for their keys, so that searches like this one find them:
 *
 * - AWS: docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
 * - GitHub: docs.github.com/authentication, "About authentication to GitHub", token formats
 * - GitLab: docs.gitlab.com/security/tokens, token prefixes
 * - Slack: docs.slack.dev/authentication/tokens
 * - Stripe: docs.stripe.com/keys; signing secrets: docs.stripe.com/webhooks/signature
 * - OpenAI: platform.openai.com/docs, API keys; Anthropic: docs.claude.com, API keys
 * - Google: cloud.google.com/docs/authentication/api-keys; OAuth: secret scanning of GitHub
 * - the others: docs.github.com, "Supported secret scanning patterns", and the vendor's own page
 *
 * Identifiers that vendors show in public, such as Stripe's `pk_` keys, are no secrets.
 */
const FORMS: readonly TokenForm[] = [
  {
    kind: "aws_access_key",
    starts: ["AKIA", "ASIA", "ABIA", "ACCA"],
    rest: /[A-Z2-7]{16}(?![A-Za-z0-9])/y,
  },
  {
    kind: "github_token",
    starts: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    rest: /\w{30,}/y,
  },
  {
    kind: "gitlab_token",
    starts: [
      "glpat-",
      "gldt-",
      "glrt-",
      "glcbt-",
      "glptt-",
      "glft-",
      "glimt-",
      "glagent-",
      "glsoat-",
      "gloas-",
    ],
    rest: /[\w-]{20,}(?:\.\w{2,16}){0,2}/y,
  },
  {
    kind: "slack_token",
    starts: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xoxp-", "xapp-"],
    rest: CODE,
  },
  {
    kind: "stripe_key",
    starts: ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
    rest: /[\w+/=]{16,}/y,
  },
  { kind: "anthropic_key", starts: ["sk-ant-"], rest: CODE },
  {
    kind: "openai_key",
    starts: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
    rest: CODE,
  },
  { kind: "openai_key", starts: ["sk-"], rest: /[A-Za-z0-9]{32,}/y },
  { kind: "google_key", starts: ["AIza"], rest: /[\w-]{35,}/y },
  { kind: "google_key", starts: ["GOCSPX-", "ya29.", "1//0"], rest: CODE },
  // RFC 7519, compact and signed. No `eyJ` inside of a run begins one: each run is read twice at most.
  {
    kind: "jwt",
    starts: ["eyJ"],
    rest: /(?<![\w-]eyJ)[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/y,
  },
  { kind: "private_key", starts: ["suiprivkey1"], rest: /[02-9ac-hj-np-z]{50,}/y },
  { kind: "private_key", starts: ["AGE-SECRET-KEY-1", "nsec1"], rest: /[0-9A-Za-z]{50,}/y },
  // BIP-32: an extended private key.
  { kind: "private_key", starts: ["xprv"], rest: /[1-9A-HJ-NP-Za-km-z]{100,}/y },
  {
    kind: "api_token",
    starts: [
      "npm_",
      "pypi-",
      "hf_",
      "gsk_",
      "xai-",
      "pplx-",
      "r8_",
      "dckr_pat_",
      "dop_v1_",
      "doo_v1_",
      "dor_v1_",
      "shpat_",
      "shpca_",
      "shppa_",
      "shpss_",
      "lin_api_",
      "ntn_",
      "sbp_",
      "sb_secret_",
      "figd_",
      "PMAK-",
      "ATATT3x",
      "sq0csp-",
      "hvs.",
      "dapi",
      "rubygems_",
      "phc_",
      "sntrys_",
      "glsa_",
      "tskey-",
      "key-",
    ],
    rest: /[\w-]{28,}/y,
  },
  { kind: "api_token", starts: ["SG."], rest: /[\w-]{22}\.[\w-]{43}/y },
];

const FORM_OF: ReadonlyMap<string, TokenForm> = new Map(
  FORMS.flatMap((form) => form.starts.map((start) => [start, form] as const)),
);

/** The longest beginning first: `sk-` begins others. */
const STARTS = [...FORM_OF.keys()].sort((a, b) => b.length - a.length)
  .map((start) => start.replace(/[.+*?^$(){}|[\]\\]/g, "\\$&"));

/** Each value that has the published form of a vendor's key. */
export function findTokens(text: string): Finding[] {
  const found: Finding[] = [];
  const starts = new RegExp(`(?<![A-Za-z0-9])(?:${STARTS.join("|")})`, "g");
  for (let match = starts.exec(text); match !== null; match = starts.exec(text)) {
    const { kind, rest } = FORM_OF.get(match[0])!;
    rest.lastIndex = starts.lastIndex;
    const value = rest.exec(text)?.[0];
    if (value === undefined) continue;
    starts.lastIndex += value.length;
    // A name of small letters is no key, whatever it begins with.
    if (!looksRandom(value) || !NO_NAME.test(value)) continue;
    found.push({ kind, start: match.index, end: starts.lastIndex });
  }
  return found;
}
