/** @jsxRuntime automatic */
/** @jsxImportSource preact */
import { readingAdvice, unreadLanguagesWords } from "../../../src/client/text/unread_words.ts";
import { useSession } from "../use_session.ts";

/** That memories of some languages are found by words only, and what to do about it. */
export function Reading({ languages }: { languages: readonly string[] | undefined }) {
  const { config } = useSession();
  const words = unreadLanguagesWords(languages);
  if (words === undefined) return null;
  const advice = readingAdvice(config.relayerUrl);
  return (
    <p class="quiet small-text" role="status">
      {words}
      {advice !== undefined && (
        <>
          {" "}
          <code>{advice.command}</code> {advice.rest}
        </>
      )}
    </p>
  );
}
