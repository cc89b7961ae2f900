/** Slots of the edge table; a power of two, at least twice the edges of the vocabulary. */
const SLOT_BITS = 17;
const SLOTS = 1 << SLOT_BITS;
/** Nodes must fit the upper half of an edge's 32-bit key. */
const MAX_NODES = 1 << 16;

/**
 * Prefix tree over UTF-16 code units. All edges are in one hash table with linear probing, keyed by
 * parent node and code unit: about a megabyte for 8,000 pieces, and no allocation while it is read.
 */
export class PieceTrie {
  readonly #edges = new Uint32Array(SLOTS);
  readonly #children = new Uint16Array(SLOTS);
  readonly #pieces = new Uint16Array(MAX_NODES);
  #nodes = 1;

  /** Adds a piece; ids are 1 to 65535, an equal text replaces the former id. */
  add(text: string, id: number): void {
    let node = 0;
    for (let i = 0; i < text.length; i++) {
      const slot = this.#slot(node, text.charCodeAt(i));
      if (this.#children[slot] === 0) {
        if (this.#nodes === MAX_NODES) throw new RangeError("The vocabulary is too large");
        this.#edges[slot] = node * 65536 + text.charCodeAt(i);
        this.#children[slot] = this.#nodes++;
      }
      node = this.#children[slot]!;
    }
    this.#pieces[node] = id;
  }

  /** The node one code unit below a node, the root being 0; 0 when no piece continues so. */
  child(node: number, code: number): number {
    return this.#children[this.#slot(node, code)]!;
  }

  /** Id of the piece that ends at a node, or 0. */
  piece(node: number): number {
    return this.#pieces[node]!;
  }

  /** Where an edge is, or the free slot where it belongs. */
  #slot(node: number, code: number): number {
    const edge = (node * 65536 + code) >>> 0;
    // Multiplicative hashing with 2^32 divided by the golden ratio (Knuth, TAOCP 3, 6.4).
    let slot = Math.imul(edge, 0x9e3779b1) >>> (32 - SLOT_BITS);
    while (this.#children[slot] !== 0 && this.#edges[slot] !== edge) slot = (slot + 1) % SLOTS;
    return slot;
  }
}
