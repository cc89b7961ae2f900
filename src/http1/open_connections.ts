/** A connection, as far as it matters for who has to make room. */
export interface OpenConnection {
  /** What connections are counted by. */
  readonly network: string;
  /** Closes it at once. */
  close(): void;
  /** Looks whether the client took too long. */
  check(now: number): void;
}

/** How many connections there may be. */
export interface ConnectionCaps {
  /** In total. */
  readonly connections: number;
  /** Of one network. */
  readonly connectionsPerNetwork: number;
}

/** Descriptors that stay free for files and calls, once the system has refused one. */
const RESERVE = 64;
/** Connections that are allowed in any case. */
const LEAST = 32;

interface Network {
  readonly key: string;
  count: number;
  /** Those that never sent a whole request, oldest first. */
  readonly unproven: Set<OpenConnection>;
  /** Those that wait for another request, oldest first. */
  readonly idle: Set<OpenConnection>;
}

/**
 * The connections of a listener. Where there is no room for another one, a client that has many
 * gives one up: first what never sent a whole request, then what waits for the next one. So a
 * client that holds connections to keep others out loses them first. Strangers give way before
 * networks from which somebody signed a request.
 */
export class OpenConnections {
  readonly #perNetwork: number;
  readonly #isKnown: (network: string) => boolean;
  readonly #networks = new Map<string, Network>();
  readonly #all = new Set<OpenConnection>();
  #cap: number;

  /** `isKnown` tells networks that give connections up only when no other has any to give. */
  constructor(caps: ConnectionCaps, isKnown: (network: string) => boolean = () => false) {
    this.#cap = caps.connections;
    this.#perNetwork = caps.connectionsPerNetwork;
    this.#isKnown = isKnown;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): IterableIterator<OpenConnection> {
    return this.#all.values();
  }

  /**
   * Makes room for a connection of a network; whether there is any.
   *
   * @param isBounded whether connections of the network are counted by themselves.
   */
  admits(key: string, isBounded: boolean): boolean {
    const network = this.#networks.get(key);
    if (isBounded && network !== undefined && network.count >= this.#perNetwork) {
      return this.#closeOneOf(network);
    }
    return this.#all.size < this.#cap || this.#closeOne();
  }

  /** Adds a connection that was admitted. */
  add(connection: OpenConnection): void {
    const key = connection.network;
    const network = this.#networks.getOrInsertComputed(
      key,
      () => ({ key, count: 0, unproven: new Set<OpenConnection>(), idle: new Set() }),
    );
    network.count++;
    network.unproven.add(connection);
    this.#all.add(connection);
  }

  /** Notes that a whole request came: until it is answered, the connection is left alone. */
  setBusy(connection: OpenConnection): void {
    const network = this.#networks.get(connection.network);
    network?.unproven.delete(connection);
    network?.idle.delete(connection);
  }

  /** Notes that a connection waits for another request. */
  setIdle(connection: OpenConnection): void {
    if (this.#all.has(connection)) this.#networks.get(connection.network)?.idle.add(connection);
  }

  remove(connection: OpenConnection): void {
    if (!this.#all.delete(connection)) return;
    const network = this.#networks.get(connection.network)!;
    this.setBusy(connection);
    if (--network.count === 0) this.#networks.delete(network.key);
  }

  /** Looks whether clients took too long. */
  check(now: number): void {
    for (const connection of this.#all) connection.check(now);
  }

  /**
   * Learns that the system has no more descriptors: from now on there are fewer connections, so that
   * some are left for files and calls. Their number cannot be read in advance.
   */
  shrink(): void {
    this.#cap = Math.min(this.#cap, Math.max(LEAST, this.#all.size - RESERVE));
    while (this.#all.size > this.#cap && this.#closeOne());
  }

  /** Closes those that wait: nobody is in the middle of something. */
  closeIdle(): void {
    for (const { unproven, idle } of [...this.#networks.values()]) {
      for (const connection of [...unproven, ...idle]) this.#close(connection);
    }
  }

  #closeOne(): boolean {
    let stranger: Network | undefined;
    let known: Network | undefined;
    for (const network of this.#networks.values()) {
      if (network.unproven.size + network.idle.size === 0) continue;
      if (this.#isKnown(network.key)) {
        if (network.count > (known?.count ?? 0)) known = network;
      } else if (network.count > (stranger?.count ?? 0)) stranger = network;
    }
    const largest = stranger ?? known;
    return largest !== undefined && this.#closeOneOf(largest);
  }

  #closeOneOf({ unproven, idle }: Network): boolean {
    for (const connection of unproven.size > 0 ? unproven : idle) {
      this.#close(connection);
      return true;
    }
    return false;
  }

  #close(connection: OpenConnection): void {
    this.remove(connection);
    connection.close();
  }
}
