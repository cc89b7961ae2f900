/** A transaction to be signed. */
export interface Signable {
  /** BCS bytes of the whole transaction. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same in the form that wallet programs read. */
  json(): Promise<string>;
}

/** A transaction as a wallet signed it. */
export interface SignedTransaction {
  /** BCS bytes; a wallet program may have changed the gas. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Base64 of flag, signature and public key. */
  readonly signature: string;
}

/** Something that speaks for an owner: it signs texts, and transactions of the account. */
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
  /**
   * Signs a transaction; asked for where accounts are on a chain.
   *
   * @param network Name of the chain, such as `testnet`.
   */
  signTransaction(transaction: Signable, network: string): Promise<SignedTransaction>;
}
