type Numbers = Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** A copy of an array with room for so many numbers, twice as many as it has when absent. */
export function enlarged<T extends Numbers>(array: T, length: number = 2 * array.length): T {
  const copy = new (array.constructor as new (length: number) => T)(length);
  copy.set(array);
  return copy;
}
