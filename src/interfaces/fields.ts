import { SvcError } from "../errors.ts";
import { isObjectId } from "../wire/keys.ts";

/** A value that is never printed; read it with {@linkcode Secret.reveal}. */
export class Secret {
  readonly #value: string;
  /** Wraps a value. */
  constructor(value: string) {
    this.#value = value;
  }
  /** The wrapped value. */
  reveal(): string {
    return this.#value;
  }
  /** Always `"[secret]"`. */
  toJSON(): string {
    return "[secret]";
  }
  /** Always `"[secret]"`. */
  toString(): string {
    return "[secret]";
  }
  /** Always `"[secret]"`. */
  [Symbol.for("Deno.customInspect")](): string {
    return "[secret]";
  }
}

/** One setting: where it comes from, what it may be, what it means. */
export interface Field<T> {
  /** Environment variable. */
  readonly env: string;
  /** Value when the variable is unset or empty; may be computed from the others' values. */
  readonly fallback: T;
  /** The fallback for people, where the value itself would mislead. */
  readonly fallbackText?: string;
  /** One line for the reference table. */
  readonly doc: string;
  /** Parses the raw text; throws an `Error` with a usable message. */
  parse(raw: string): T;
  /** An invalid value is a warning and means the fallback, instead of stopping the start. */
  readonly lenient?: boolean;
}

/** A group of settings. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of a group of settings. */
export type Values<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** The environment, or any other source of raw values. */
export type Env = Readonly<Record<string, string | undefined>>;

function field<T>(env: string, fallback: T, doc: string, parse: (raw: string) => T): Field<T> {
  return { env, fallback, doc, parse };
}

/** A whole number, decimal digits only. */
export function integer(
  env: string,
  fallback: number,
  min: number,
  max: number,
  doc: string,
): Field<number> {
  return field(env, fallback, doc, (raw) => {
    const value = /^-?\d{1,15}$/.test(raw) ? Number(raw) : NaN;
    if (value >= min && value <= max) return value;
    throw new RangeError(`must be a whole number from ${min} to ${max}, got "${raw}"`);
  });
}

/** `true` or `false`; `1` and `0` are taken too. */
export function flag(env: string, fallback: boolean, doc: string): Field<boolean> {
  return field(env, fallback, doc, (raw) => {
    const value = { true: true, "1": true, false: false, "0": false }[raw.toLowerCase()];
    if (value === undefined) throw new TypeError(`must be true or false, got "${raw}"`);
    return value;
  });
}

/** Free text. */
export function text(env: string, fallback: string, doc: string): Field<string> {
  return field(env, fallback, doc, String);
}

/** Text that may be absent. */
export function optionalText(env: string, doc: string): Field<string | undefined> {
  return field(env, undefined, doc, String);
}

/** One of a closed list of words. */
export function choice<const T extends string>(
  env: string,
  fallback: NoInfer<T>,
  values: readonly T[],
  doc: string,
): Field<T> {
  return field(env, fallback, doc, (raw) => {
    const value = values.find((known) => known === raw);
    if (value !== undefined) return value;
    throw new TypeError(`must be one of ${values.join(", ")}, got "${raw}"`);
  });
}

/** A comma-separated list; blanks around items and empty items are dropped. */
export function list(
  env: string,
  fallback: readonly string[],
  doc: string,
): Field<readonly string[]> {
  return field(
    env,
    fallback,
    doc,
    (raw) => raw.split(",").map((item) => item.trim()).filter((item) => item !== ""),
  );
}

/** A field whose value is absent, or computed later, when its variable is unset. */
export function optional<T>(field: Field<T>, fallbackText?: string): Field<T | undefined> {
  const { fallback: _, ...rest } = field;
  return { ...rest, fallback: undefined, ...(fallbackText === undefined ? {} : { fallbackText }) };
}

/** A field whose values must pass a check; the check answers what is wrong. */
export function checked<T>(base: Field<T>, problem: (value: T) => string | undefined): Field<T> {
  const parse = (raw: string) => {
    const value = base.parse(raw);
    const text = problem(value);
    if (text !== undefined) throw new TypeError(text);
    return value;
  };
  return { ...base, parse };
}

/** An object id or address that may be absent; lower case. */
export function objectId(env: string, doc: string): Field<string | undefined> {
  return field<string | undefined>(env, undefined, doc, (raw) => {
    if (!isObjectId(raw)) throw new TypeError("must be 0x and 64 hex characters");
    return raw.toLowerCase();
  });
}

/** An absolute http or https address without credentials. */
export function httpUrl(env: string, fallback: string, doc: string): Field<string> {
  return field(env, fallback, doc, (raw) => {
    const url = URL.parse(raw);
    const isHttp = url !== null && /^https?:$/.test(url.protocol);
    // Without a scheme the parser sees no name and password before the @.
    if (isHttp ? url.username + url.password !== "" : raw.includes("@")) {
      // Not the value: it holds a password.
      throw new TypeError("must be an address without a name and a password");
    }
    if (!isHttp) throw new TypeError(`must be an absolute http or https address, got "${raw}"`);
    return raw.replace(/\/+$/, "");
  });
}

/** A secret that may be absent; its value is never part of an error text. */
export function secret(env: string, doc: string): Field<Secret | undefined> {
  return field<Secret | undefined>(env, undefined, doc, (raw) => new Secret(raw));
}

/** A secret that is sent in a header: visible ASCII characters. */
export function headerSecret(env: string, doc: string): Field<Secret | undefined> {
  return field<Secret | undefined>(env, undefined, doc, (raw) => {
    const value = raw.trim();
    if (!/^[\x21-\x7e]+$/.test(value)) throw new TypeError("must be visible ASCII characters");
    return new Secret(value);
  });
}

/** What reading settings found. */
export interface Reading<F extends Fields> {
  /** The values; complete only when there are no problems. */
  readonly values: Values<F>;
  /** Why the start must stop, one line each. */
  readonly problems: readonly string[];
  /** What is odd but harmless, one line each. */
  readonly warnings: readonly string[];
}

/** Reads a group of settings without throwing. */
export function inspectFields<F extends Fields>(fields: F, env: Env): Reading<F> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const [key, field] of Object.entries(fields)) {
    const raw = env[field.env];
    values[key] = field.fallback;
    if (raw === undefined || raw === "") continue;
    try {
      values[key] = field.parse(raw);
    } catch (error) {
      const line = `${field.env} ${error instanceof Error ? error.message : "is not valid"}`;
      if (field.lenient) warnings.push(`${line}; using ${field.fallback}`);
      else problems.push(line);
    }
  }
  return { values: values as Values<F>, problems, warnings };
}

/**
 * Reads a group of settings; one error names every problem at once.
 *
 * @throws {SvcError} `invalid_parameter` with one line a problem.
 */
export function readFields<F extends Fields>(fields: F, env: Env): Values<F> {
  const { values, problems } = inspectFields(fields, env);
  if (problems.length > 0) throw new SvcError("invalid_parameter", problems.join("\n"));
  return values;
}
