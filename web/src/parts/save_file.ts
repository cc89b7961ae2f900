/** How long a browser may take to begin saving, in milliseconds. */
const BEGUN_MS = 60_000;

/** Has the browser save a file, as a download. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), BEGUN_MS);
}

/** A text as part of a file's name. */
export function fileNamePart(text: string): string {
  return text.normalize().replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60);
}
