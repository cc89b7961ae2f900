import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { findSecrets } from "../src/secrets/find.ts";
import type { SecretKind } from "../src/secrets/kinds.ts";
import { print } from "./print.ts";

/** A secret in a sentence. */
export interface SecretText {
  readonly kind: SecretKind;
  readonly secret: string;
  readonly text: string;
}

const DIGITS = "0123456789";
const SMALL = "abcdefghijklmnopqrstuvwxyz";
const CAPITALS = SMALL.toUpperCase();
const ALPHANUMERIC = SMALL + CAPITALS + DIGITS;
const URL_SAFE = `${ALPHANUMERIC}-_`;
const HEX = "0123456789abcdef";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const BASE32 = `${CAPITALS}234567`;
const BASE64 = `${ALPHANUMERIC}+/`;

/** Draws the same for the same seed; good enough to make values up. */
class Draw {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to below `limit` (mulberry32). */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join("");
  }
}

/** A card number whose last digit is the check digit of the others. */
function card(draw: Draw, prefix: string, length: number): string {
  const digits = prefix + draw.text(DIGITS, length - prefix.length - 1);
  for (let check = 0; check < 10; check++) {
    const sum = [...digits, String(check)].reverse().reduce((total, digit, i) => {
      const doubled = i % 2 === 0 ? Number(digit) : 2 * Number(digit);
      return total + (doubled > 9 ? doubled - 9 : doubled);
    }, 0);
    if (sum % 10 === 0) return digits + check;
  }
  throw new Error("there is a check digit for all digits");
}

function pem(draw: Draw, label: string): string {
  const lines = Array.from({ length: 4 }, () => draw.text(BASE64, 64)).join("\n");
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----`;
}

function jwt(draw: Draw): string {
  return `eyJ${draw.text(URL_SAFE, 33)}.eyJ${draw.text(URL_SAFE, 60)}.${draw.text(URL_SAFE, 43)}`;
}

/** Words of BIP-39 with their checksum. */
function phrase(draw: Draw, words: number): string {
  const entropy = Uint8Array.from({ length: words / 3 * 4 }, () => draw.below(256));
  return entropyToMnemonic(entropy, wordlist);
}

const typed = (draw: Draw): string =>
  draw.one(["Sunny", "Tiger", "Berlin", "Maple", "Falcon"]) + draw.text(DIGITS, 2) +
  draw.one(["!", "#", "?", "&"]) + draw.text(SMALL, 3);

/** Makes a secret and its sentence. */
type Sample = readonly [SecretKind, (draw: Draw) => string, (secret: string) => string];

/** More than sixty ways to say a secret; each value is made up when it is asked for. */
const SAMPLES: readonly Sample[] = [
  ["aws_access_key", (d) => `AKIA${d.text(BASE32, 16)}`, (s) => `Our AWS access key is ${s}.`],
  ["aws_access_key", (d) => `ASIA${d.text(BASE32, 16)}`, (s) => `AWS_ACCESS_KEY_ID=${s}`],
  ["aws_secret_key", (d) => d.text(BASE64, 40), (s) => `aws_secret_access_key = ${s}`],
  [
    "aws_secret_key",
    (d) => d.text(BASE64, 40),
    (s) => `The AWS secret access key is ${s}, use it.`,
  ],
  ["github_token", (d) => `ghp_${d.text(ALPHANUMERIC, 36)}`, (s) => `Push with the token ${s}.`],
  ["github_token", (d) => `gho_${d.text(ALPHANUMERIC, 36)}`, (s) => `gh says "${s}"`],
  [
    "github_token",
    (d) => `github_pat_${d.text(ALPHANUMERIC, 22)}_${d.text(ALPHANUMERIC, 59)}`,
    (s) => `Remember my GitHub PAT: ${s}`,
  ],
  ["gitlab_token", (d) => `glpat-${d.text(URL_SAFE, 20)}`, (s) => `GitLab wants ${s} for the API.`],
  ["gitlab_token", (d) => `glrt-${d.text(URL_SAFE, 20)}`, (s) => `The runner registers with ${s}`],
  [
    "slack_token",
    (d) => `xoxb-${d.text(DIGITS, 12)}-${d.text(DIGITS, 12)}-${d.text(ALPHANUMERIC, 24)}`,
    (s) => `The bot posts with ${s}.`,
  ],
  [
    "slack_token",
    (d) => `xapp-1-A${d.text(BASE32, 10)}-${d.text(DIGITS, 13)}-${d.text(HEX, 64)}`,
    (s) => `Socket mode: ${s}`,
  ],
  ["stripe_key", (d) => `sk_live_${d.text(ALPHANUMERIC, 24)}`, (s) => `Charge cards with ${s}.`],
  ["stripe_key", (d) => `rk_live_${d.text(ALPHANUMERIC, 24)}`, (s) => `Restricted: ${s}`],
  ["stripe_key", (d) => `whsec_${d.text(ALPHANUMERIC, 32)}`, (s) => `Check webhooks with ${s}`],
  ["openai_key", (d) => `sk-${d.text(ALPHANUMERIC, 48)}`, (s) => `OPENAI_API_KEY="${s}"`],
  ["openai_key", (d) => `sk-proj-${d.text(URL_SAFE, 120)}`, (s) => `My OpenAI key is ${s}`],
  [
    "anthropic_key",
    (d) => `sk-ant-api03-${d.text(URL_SAFE, 93)}AA`,
    (s) => `Claude works when I export ${s} first.`,
  ],
  ["anthropic_key", (d) => `sk-ant-oat01-${d.text(URL_SAFE, 93)}AA`, (s) => `token ${s}`],
  ["google_key", (d) => `AIza${d.text(URL_SAFE, 35)}`, (s) => `The maps page loads with key=${s}`],
  ["google_key", (d) => `GOCSPX-${d.text(URL_SAFE, 28)}`, (s) => `OAuth client: ${s}`],
  [
    "google_key",
    (d) => `ya29.${d.text(URL_SAFE, 80)}`,
    (s) => `curl -H "Authorization: Bearer ${s}"`,
  ],
  ["jwt", jwt, (s) => `I am signed in as ${s} on staging.`],
  ["jwt", jwt, (s) => `Authorization: Bearer ${s}`],
  ["jwt", jwt, (s) => `The cookie session=${s}; path=/ still works.`],
  ["api_token", (d) => `npm_${d.text(ALPHANUMERIC, 36)}`, (s) => `Publish with ${s}.`],
  ["api_token", (d) => `hf_${d.text(ALPHANUMERIC, 34)}`, (s) => `Hugging Face gave me ${s}`],
  [
    "api_token",
    (d) => `SG.${d.text(URL_SAFE, 22)}.${d.text(URL_SAFE, 43)}`,
    (s) => `Mails go out with ${s}.`,
  ],
  ["api_token", (d) => `dop_v1_${d.text(HEX, 64)}`, (s) => `DigitalOcean: ${s}`],
  ["api_token", (d) => d.text(HEX, 32), (s) => `The weather API key is ${s}.`],
  ["api_token", (d) => d.text(ALPHANUMERIC, 40), (s) => `Use access token ${s} for the demo.`],
  ["api_token", (d) => d.text(URL_SAFE, 48), (s) => `CLIENT_SECRET=${s}`],
  [
    "api_token",
    (d) => `${d.text(DIGITS, 10)}:AA${d.text(URL_SAFE, 33)}`,
    (s) => `My Telegram bot token is ${s}`,
  ],
  ["private_key", (d) => pem(d, "PRIVATE KEY"), (s) => `Keep this key for me:\n${s}\nThanks!`],
  ["private_key", (d) => pem(d, "RSA PRIVATE KEY"), (s) => `The server uses ${s}`],
  ["private_key", (d) => pem(d, "OPENSSH PRIVATE KEY"), (s) => `id_ed25519 holds\n\n${s}`],
  [
    "private_key",
    (d) => pem(d, "EC PRIVATE KEY").replaceAll("\n", "\\n"),
    (s) => `{"key": "${s}"}`,
  ],
  ["private_key", (d) => `suiprivkey1${d.text(BECH32, 59)}`, (s) => `My Sui wallet is ${s}.`],
  ["private_key", (d) => d.text(HEX, 64), (s) => `The private key of my wallet is 0x${s}`],
  ["private_key", (d) => `0x${d.text(HEX, 64)}`, (s) => `private key: ${s}, do not lose it`],
  ["seed_phrase", (d) => phrase(d, 12), (s) => `My wallet's words are ${s}.`],
  ["seed_phrase", (d) => phrase(d, 15), (s) => `Seed: ${s}`],
  ["seed_phrase", (d) => phrase(d, 18), (s) => `Write down:\n${s}`],
  ["seed_phrase", (d) => phrase(d, 21), (s) => `The recovery words, in order: ${s}; that is all.`],
  ["seed_phrase", (d) => phrase(d, 24), (s) => `Ledger backup: ${s}`],
  [
    "seed_phrase",
    (d) => phrase(d, 12).split(" ").map((word, i) => `${i + 1}. ${word}`).join("\n"),
    (s) => `Here they are:\n${s}`,
  ],
  ["payment_card", (d) => card(d, "4", 16), (s) => `I pay with ${s}, it ends next May.`],
  [
    "payment_card",
    (d) => card(d, "53", 16).replace(/\d{4}(?=\d)/g, "$& "),
    (s) => `The company's Mastercard is ${s}.`,
  ],
  [
    "payment_card",
    (d) => card(d, "37", 15).replace(/^(\d{4})(\d{6})/, "$1 $2 "),
    (s) => `Amex ${s} is for travel`,
  ],
  [
    "payment_card",
    (d) => card(d, "6011", 16).replace(/\d{4}(?=\d)/g, "$&-"),
    (s) => `Book it on my card (${s}).`,
  ],
  [
    "connection_string",
    (d) => `postgres://app:${d.text(ALPHANUMERIC, 18)}@db.internal:5432/app`,
    (s) => `Production is at ${s}.`,
  ],
  [
    "connection_string",
    (d) => `mongodb+srv://admin:${d.text(ALPHANUMERIC, 12)}@cluster0.abcde.mongodb.net`,
    (s) => `MONGO_URL=${s}`,
  ],
  ["connection_string", (d) => `redis://:${d.text(HEX, 24)}@10.0.0.5:6379/0`, (s) => `cache: ${s}`],
  [
    "connection_string",
    (d) => `Server=sql01;Database=crm;User Id=app;Password=${d.text(ALPHANUMERIC, 14)};`,
    (s) => `The report connects with ${s}`,
  ],
  ["password", typed, (s) => `My wifi password is ${s}`],
  ["password", typed, (s) => `The password for the guest network at the cabin is ${s}.`],
  ["password", typed, (s) => `password: ${s}`],
  ["password", typed, (s) => `ADMIN_PASSWORD=${s}`],
  ["password", typed, (s) => `{"user": "ada", "password": "${s}"}`],
  ["password", typed, (s) => `Log in as ada with password ${s} please.`],
  ["password", typed, (s) => `${s} is my password for the NAS.`],
  ["password", typed, (s) => `Das Passwort für den Router lautet ${s}.`],
  [
    "webhook_url",
    (d) =>
      `https://hooks.slack.com/services/T${d.text(BASE32, 8)}/B${d.text(BASE32, 10)}/${
        d.text(ALPHANUMERIC, 24)
      }`,
    (s) => `Alerts go to ${s}.`,
  ],
  [
    "webhook_url",
    (d) => `https://discord.com/api/webhooks/${d.text(DIGITS, 18)}/${d.text(URL_SAFE, 68)}`,
    (s) => `Post the build result to ${s}`,
  ],
];

/** A secret of each sample, made of a seed. */
export function secretTexts(seed: number): SecretText[] {
  const draw = new Draw(seed);
  return SAMPLES.map(([kind, make, sentence]) => {
    const secret = make(draw);
    return { kind, secret, text: sentence(secret) };
  });
}

/** Every text in a value of JSON. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}

const ROOT = new URL("../", import.meta.url);

/** The paragraphs of a page, without what it shows as code. */
function paragraphsOf(page: string): string[] {
  return page.replace(/^```.*?^```$/gms, "").split(/\n\s*\n/);
}

async function filesIn(folder: string, ending: string): Promise<URL[]> {
  const url = new URL(folder, ROOT);
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(url)) if (name.endsWith(ending)) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort().map((name) => new URL(name, url));
}

/** Texts that say no secret: labelled data of other evaluations, and the documentation. */
export async function ordinaryTexts(): Promise<string[]> {
  const texts = new Set<string>();
  for (const folder of ["secrets", "retrieval", "extraction", "duplicates"]) {
    for (const file of await filesIn(`tests/testdata/${folder}/`, ".json")) {
      for (const text of textsIn(JSON.parse(await Deno.readTextFile(file)))) texts.add(text);
    }
  }
  const pages = [...await filesIn("./", ".md"), ...await filesIn("docs/", ".md")];
  for (const file of pages) {
    for (const text of paragraphsOf(await Deno.readTextFile(file))) texts.add(text);
  }
  return [...texts].filter((text) => text.length >= 16);
}

/** What is found of secrets, and in ordinary texts. */
export interface SecretFigures {
  readonly secrets: number;
  readonly kinds: number;
  readonly found: number;
  /** Those among them whose kind is right. */
  readonly named: number;
  readonly missed: readonly SecretText[];
  readonly ordinary: number;
  readonly alarms: readonly string[];
}

/** Looks for the secrets of a seed, and for any in ordinary texts. */
export function measure(
  secrets: readonly SecretText[],
  ordinary: readonly string[],
): SecretFigures {
  const kindsIn = new Map(secrets.map((item) => [item, findSecrets(item.text)]));
  const missed = secrets.filter((item) => kindsIn.get(item)!.length === 0);
  return {
    secrets: secrets.length,
    kinds: new Set(secrets.map(({ kind }) => kind)).size,
    found: secrets.length - missed.length,
    named:
      secrets.filter((item) => kindsIn.get(item)!.some(({ kind }) => kind === item.kind)).length,
    missed,
    ordinary: ordinary.length,
    alarms: ordinary.filter((text) => findSecrets(text).length > 0),
  };
}

/** Prints how many secrets are found, and how many ordinary texts are taken for one. */
export async function run(args: readonly string[]): Promise<number> {
  const seed = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 1);
  const { secrets, kinds, found, named, missed, ordinary, alarms } = measure(
    secretTexts(seed),
    await ordinaryTexts(),
  );
  print(
    `Secrets: ${found} of ${secrets} found, of ${kinds} kinds; ${named} named by their kind`,
    `False alarms: ${alarms.length} of ${ordinary} ordinary texts`,
    ...(args.includes("--missed") ? [...missed.map(({ text }) => `missed: ${text}`)] : []),
    ...(args.includes("--missed") ? alarms.map((text) => `alarm: ${text}`) : []),
  );
  return 0;
}
