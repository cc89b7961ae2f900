/** Name under which hosts list the package. */
export const SERVER_NAME = "svc";

/** What a host is told about the package. */
export interface ServerEntry {
  /** Only where the host wants it. */
  readonly type?: "stdio";
  /** Program, an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables besides the host's own; never a secret. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A configuration that cannot be changed safely; the message is for people. */
export class ConfigError extends Error {}

/** A configuration with the entry in it. */
export interface Edit {
  readonly text: string;
  readonly changed: boolean;
}

/** Lines of a configuration, without what else stands on them. */
export interface OwnLines {
  /** Number of the first one, from 1. */
  readonly line: number;
  readonly lines: readonly string[];
}

/** What an edit is about; nothing of other servers, which may hold keys. */
export interface Change {
  /** The entry as it was; absent when there was none. */
  readonly before: OwnLines | undefined;
  /** The entry as it is, with what had to be made around it. */
  readonly after: OwnLines;
}
