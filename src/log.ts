import { printable } from "./printable.ts";

/** Importance of a log line, least important first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a log line may carry besides its event. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where log lines go. Events are fixed words or sentences, never built from user data. */
export interface Logger {
  /** Details for developers. */
  debug(event: string, fields?: LogFields): void;
  /** Normal operation. */
  info(event: string, fields?: LogFields): void;
  /** Something odd that was handled. */
  warn(event: string, fields?: LogFields): void;
  /** Something that failed. */
  error(event: string, fields?: LogFields): void;
}

/** Options of {@linkcode createLogger}. */
export interface LoggerOptions {
  /** Least important level that is written. */
  readonly level: LogLevel;
  /** `text` for people, `json` for machines. */
  readonly format: "text" | "json";
  /** Takes one line, its end of line included. */
  readonly write: (line: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The only fields that are written; anything else is dropped, whatever it holds. */
const ALLOWED = new Set([
  "at",
  "attempts",
  "bytes",
  "code",
  "count",
  "delay_ms",
  "error",
  "exit_code",
  "failed",
  "host",
  "job_id",
  "method",
  "ms",
  "pending",
  "pid",
  "plugin",
  "port",
  "process",
  "reason",
  "request_id",
  "role",
  "route",
  "setting",
  "signal",
  "state",
  "status",
  "step",
  "url",
  "version",
]);

/** Longest text of one field, in UTF-16 units. */
const MAX_TEXT = 500;

function allowedFields(fields: LogFields): [string, string | number | boolean][] {
  const kept: [string, string | number | boolean][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || !ALLOWED.has(name)) continue;
    kept.push([name, typeof value === "string" ? value.slice(0, MAX_TEXT) : value]);
  }
  return kept;
}

/** Text as it is when it is plain, else as a JSON string: a value cannot forge a line or a field. */
function quote(value: string | number | boolean): string {
  const text = String(value);
  return /^[\w./:@,+-]+$/.test(text) ? text : printable(JSON.stringify(text));
}

/** A logger that writes one line an event. */
export function createLogger(options: LoggerOptions): Logger {
  const least = LEVELS.indexOf(options.level);
  const now = options.now ?? Date.now;
  const at = (level: LogLevel) => (event: string, fields: LogFields = {}) => {
    if (LEVELS.indexOf(level) < least) return;
    const time = new Date(now()).toISOString();
    const kept = allowedFields(fields);
    if (options.format === "json") {
      const line = JSON.stringify({ time, level, event, ...Object.fromEntries(kept) });
      return options.write(line + "\n");
    }
    // Control characters of an event would break the line as those of a field would.
    const words = [time, level, event.replace(/[\p{Cc}\u2028\u2029]/gu, " ")];
    options.write(
      [...words, ...kept.map(([name, value]) => `${name}=${quote(value)}`)].join(" ") + "\n",
    );
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Writes nothing. */
export const silentLogger: Logger = createLogger({ level: "error", format: "text", write() {} });

/**
 * What may be logged of anything thrown: the error's class, its code and the place it was thrown
 * at. Messages are left out: a parser's message, for one, repeats what it could not parse.
 */
export function errorFields(thrown: unknown): LogFields {
  if (!(thrown instanceof Error)) return { error: typeof thrown };
  const root = thrown.cause instanceof Error ? thrown.cause : thrown;
  const place = /\n\s+at (.*)/.exec(root.stack ?? "")?.[1];
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
  return { error: root.name, code, at: place?.replace(/file:\/\/.*\/(?=(src|plugins|cli)\/)/, "") };
}
