/** A memory that was sent. */
export interface Sent {
  /** Namespace. */
  readonly namespace: string;
  /** Text, or the mark in the metadata of a manual memory. */
  readonly text: string;
  /** Vector of a manual memory. */
  readonly vector?: readonly number[];
  /** Its id, once accepted; without one it may be there once, or not. */
  id?: string;
  /** Whether its deletion was asked for, and answered. */
  deletion?: "asked" | "answered";
}

/** What a client knows: what it sent, and what it was answered. */
export class Ledger {
  /** Everything that was sent. */
  readonly sent: Sent[] = [];
  /** SHA-256 of the bodies that were sent. */
  readonly bodyHashes = new Set<string>();
  /** Ids by text, and every answer that was not expected. */
  readonly problems: string[] = [];
  /** Requests whose connection broke. */
  broken = 0;
  /** Answers that were given again. */
  replayed = 0;

  /** Memories that were accepted. */
  get accepts(): number {
    return this.sent.reduce((count, { id }) => count + (id === undefined ? 0 : 1), 0);
  }

  /** Notes what is about to be sent. */
  add(namespace: string, text: string, vector?: readonly number[]): Sent {
    const sent: Sent = { namespace, text, ...(vector === undefined ? {} : { vector }) };
    this.sent.push(sent);
    return sent;
  }

  /** An accepted memory whose deletion nobody asked for. */
  some(random: (below: number) => number): Sent | undefined {
    for (let tries = 0; tries < 8; tries++) {
      const sent = this.sent[random(this.sent.length)];
      if (sent?.id !== undefined && sent.deletion === undefined) return sent;
    }
    return undefined;
  }
}
