/**
 * Frees memory now instead of when garbage is collected: what is read next gets the same
 * pages, while new ones would cost as much as opening it.
 */
export function free({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
