/** Abort codes of the contract's functions that a wallet's owner can run into. */
export const REFUSALS: Readonly<Record<number, string>> = {
  1: "This wallet does not own the account.",
  2: "This is not a usable key.",
  3: "The key's proof does not fit this account.",
  4: "An account lists this key already.",
  5: "The account does not list this key.",
  6: "The account has its 20 keys. Remove one first.",
  7: "The name is too long: at most 64 bytes.",
  8: "The account is switched off.",
  9: "This wallet has an account already.",
  10: "The account belongs to another version of the contract.",
  12: "The key would end in the past.",
  14: "A key is for 1 to 32 namespaces, with names of at most 256 bytes.",
};

/** Why an account cannot have keys that are bound to namespaces. */
export const TOO_OLD =
  "This account's contract is of an earlier version that cannot bind keys to namespaces.";

/** What the chain said about a transaction that failed, in words for people. */
export function refusalOf(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  const code = /abort(?:ed)?[^0-9]*code:?\s*(\d+)/i.exec(message)?.[1];
  const known = code === undefined ? undefined : REFUSALS[Number(code)];
  if (known !== undefined) return new Error(known, { cause: error });
  if (/no (?:valid )?gas|insufficient|balance/i.test(message)) {
    const text = "This wallet has no SUI on this network to pay for the transaction.";
    return new Error(text, { cause: error });
  }
  return new Error(`The chain did not take the transaction: ${message.slice(0, 200)}`, {
    cause: error,
  });
}
