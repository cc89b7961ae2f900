/** One rule of the protocol document. */
export interface Rule {
  /** Section and number, such as `4.3-6`; never reused for another rule. */
  readonly id: string;
  /** Section of the protocol document. */
  readonly section: string;
  /** The rule in short. */
  readonly text: string;
  /** Why no test shows it; absent when a test must. */
  readonly deferred?: string;
}

/** Number and text of a rule, and why it is deferred. */
export type Line = readonly [number: number, text: string, deferred?: string];

/** The rules of one section. */
export function rules(section: string, lines: readonly Line[]): Rule[] {
  return lines.map(([number, text, deferred]) => ({
    id: `${section}-${number}`,
    section,
    text,
    ...(deferred === undefined ? {} : { deferred }),
  }));
}

/** Reasons that several rules share. */
export const DEFERRED = {
  put: "replacing a memory's text is not part of this version",
  exportImport: "export and import are not part of this version",
  bridge: "that bridge is on no registry the tests can reach",
  login: "the browser login is not part of this version",
  chain: "on-chain accounts are not part of this version",
  seal: "the threshold cipher is not part of this version",
  walrus: "the decentralized blob store is not part of this version",
  models: "measuring calls of backends is not part of this version",
} as const;
