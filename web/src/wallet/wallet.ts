/** Something that speaks for an owner: it signs texts, and nothing else is asked of it. */
export interface Wallet {
  /** A key in this browser, or a wallet program of the user's. */
  readonly kind: "browser" | "standard";
  /** Name for people. */
  readonly name: string;
  /** Sui address, `0x` and 64 lower-case hex characters. */
  readonly address: string;
  /**
   * Signs a text as a Sui personal message.
   *
   * @returns base64 of flag, signature and public key.
   */
  signPersonalMessage(text: string): Promise<string>;
}
