/** Name under which hosts list the package. */
export const SERVER_NAME = "svc";

/** What a host is told about the package. */
export interface ServerEntry {
  /** Only where the host wants it. */
  readonly type?: "stdio";
  /** Program, an absolute path. */
  readonly command: string;
  /** Its arguments. */
  readonly args: readonly string[];
  /** Variables besides the host's own; never a secret. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A configuration that cannot be changed safely; the message is for people. */
export class ConfigError extends Error {}

/** A configuration with the entry in it. */
export interface Edit {
  /** The whole file, changed. */
  readonly text: string;
  /** Whether anything is different. */
  readonly changed: boolean;
}
