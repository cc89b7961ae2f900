const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

function nameOf(language: string): string {
  try {
    return language === "und" ? "this language" : NAMES.of(language) ?? "this language";
  } catch {
    return "this language";
  }
}

/** That memories of a language are found by words, where a relayer says so. */
export function unreadWords(language: string | undefined): string | undefined {
  if (typeof language !== "string") return undefined;
  return `Found by words only: the relayer's embedder does not read ${nameOf(language)}.`;
}
