const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });
const LIST = new Intl.ListFormat("en");

/** Names of this machine, as an address has them. */
const THIS_MACHINE = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

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

/** The same of several languages; `undefined` where there are none. */
export function unreadLanguagesWords(languages: unknown): string | undefined {
  if (!Array.isArray(languages)) return undefined;
  const codes = languages.filter((code) => typeof code === "string");
  const names = new Set(codes.map(nameOf));
  // What nobody can name is named by that alone.
  const other = names.delete("this language") ? ["other languages"] : [];
  const all = [...names, ...other];
  if (all.length === 0) return undefined;
  return `Found by words only: the relayer's embedder does not read ${LIST.format(all)}.`;
}

/**
 * What somebody whose relayer runs on this machine does about it: a command, and what it is for.
 *
 * @param relayer Address of the relayer.
 */
export function readingAdvice(
  relayer: string,
): { readonly command: string; readonly rest: string } | undefined {
  const host = URL.parse(relayer)?.hostname ?? "";
  if (!THIS_MACHINE.test(host)) return undefined;
  return {
    command: "svc model get multilingual-e5-small",
    rest: "fetches a model that reads about 100 languages; SVC_EMBEDDER=onnx starts with it.",
  };
}

/** The same as one sentence. */
export function readingAdviceText(relayer: string): string | undefined {
  const advice = readingAdvice(relayer);
  return advice && `${advice.command} ${advice.rest}`;
}
