import { SvcError } from "../errors.ts";
import type { SecretsRule } from "../interfaces/config.ts";
import { findSecrets, redact } from "../secrets/find.ts";
import { type Finding, SECRET_KINDS, type SecretKind } from "../secrets/kinds.ts";
import type { Payload } from "./waiting/job_contents.ts";
import type { Metadata } from "./record.ts";

type TextPayload = Extract<Payload, { readonly kind: "text" }>;

/** How many secrets of a kind were taken out. */
export interface Redacted {
  readonly kind: SecretKind;
  readonly count: number;
}

/**
 * The rule for a request: what it asks for, else the relayer's setting.
 *
 * @throws {SvcError} `invalid_parameter` for `allow` where the setting is another.
 */
export function secretsRule(setting: SecretsRule, asked: SecretsRule | undefined): SecretsRule {
  if (asked !== "allow" || setting === "allow") return asked ?? setting;
  const message = "secrets: must be refuse or redact, for this relayer allows no secrets";
  throw new SvcError("invalid_parameter", message, { field: "secrets" });
}

const characters = (text: string): number => [...text].length;

/** Says what was found and where, and never the value. */
function secretFound(field: string, text: string, [first, ...others]: readonly Finding[]) {
  const { kind, start, end } = first!;
  const offset = characters(text.slice(0, start));
  const length = characters(text.slice(start, end));
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  const place = `${length} characters at ${offset}`;
  const message = `${field} holds ${SECRET_KINDS[kind]} (${place})${more}. Leave it out, or send ` +
    "secrets=redact to have it replaced; the relayer's setting is SVC_SECRETS";
  return new SvcError("secret_found", message, { field, extra: { kind, offset, length } });
}

/** Looks for secrets in what is to be stored, and counts what it took out. */
export class SecretScreen {
  readonly #rule: SecretsRule;
  readonly #counts = new Map<SecretKind, number>();

  constructor(rule: SecretsRule) {
    this.#rule = rule;
  }

  /**
   * A text as it may be stored.
   *
   * @param field Path of the member that holds it.
   * @throws {SvcError} `secret_found` where secrets are refused and it has one.
   */
  text(text: string, field: string): string {
    if (this.#rule === "allow") return text;
    const findings = findSecrets(text);
    if (findings.length === 0) return text;
    if (this.#rule === "refuse") throw secretFound(field, text, findings);
    for (const { kind } of findings) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    return redact(text, findings);
  }

  /** Metadata as it may be stored: each text in it is looked at behind its name. */
  metadata(metadata: Metadata, field: string): Metadata {
    const members = Object.entries(metadata).map(([given, value]) => {
      const name = this.text(given, field);
      if (typeof value !== "string") return [name, value];
      const prefix = `${name}: `;
      const screened = this.text(prefix + value, field);
      return [name, screened.startsWith(prefix) ? screened.slice(prefix.length) : screened];
    });
    return Object.fromEntries(members);
  }

  /** A text with its metadata; `path` is where its members stand. */
  payload(payload: TextPayload, path: string): TextPayload {
    const { text, metadata } = payload;
    return {
      ...payload,
      text: this.text(text, `${path}text`),
      ...(metadata === undefined ? {} : { metadata: this.metadata(metadata, `${path}metadata`) }),
    };
  }

  /** What was taken out, in the order of the kinds' first places; absent where nothing was. */
  get redacted(): Redacted[] | undefined {
    if (this.#counts.size === 0) return undefined;
    return [...this.#counts].map(([kind, count]) => ({ kind, count }));
  }
}
