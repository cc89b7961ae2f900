/** A turn of a conversation, or the fact that it tells. */
export interface Said {
  /** The memory's text. */
  readonly text: string;
  /** The session it was said in, such as "nadia 3". */
  readonly session: string;
  /** Its place in the session, from 0. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A question, and the places of what answers it. */
interface Asked {
  readonly text: string;
  readonly turn: number;
  /** Absent where no fact was noted. */
  readonly fact?: number;
}

/** What was said in one namespace over months. */
export interface Conversation {
  readonly name: string;
  readonly turns: readonly Said[];
  readonly facts: readonly Said[];
  readonly questions: readonly Asked[];
}

const FOLDER = new URL("../tests/testdata/conversations/", import.meta.url);
const SPEAKER = /^([\p{Lu}][\p{L}]*): /u;
/** Whose turns are stored without a name: there are two sides, and each knows which one it is. */
const NAMELESS = ["User", "Assistant"];
const MINUTE_MS = 60_000;

/**
 * A conversation of the form that tests/testdata/conversations/README.md describes.
 *
 * @throws {Error} for a line that is nothing of that.
 */
export function parseConversation(name: string, content: string): Conversation {
  const turns: Said[] = [];
  const facts: Said[] = [];
  const questions: Asked[] = [];
  let session = 0;
  let start = 0;
  let position = 0;
  let fact: number | undefined;
  for (const line of content.split("\n")) {
    const rest = line.slice(2);
    if (line.startsWith("# ")) {
      session++;
      start = Date.parse(`${rest.replace(" ", "T")}:00Z`);
      position = 0;
    } else if (line.startsWith("= ")) {
      fact = facts.length;
      const { session, position, at } = turns.at(-1)!;
      facts.push({ text: rest, session, position, at });
    } else if (line.startsWith("? ")) {
      questions.push({ text: rest, turn: turns.length - 1, ...fact === undefined ? {} : { fact } });
    } else if (SPEAKER.test(line)) {
      const [head, speaker] = SPEAKER.exec(line)!;
      const text = NAMELESS.includes(speaker!) ? line.slice(head.length) : line;
      const at = start + position * MINUTE_MS;
      turns.push({ text, session: `${name} ${session}`, position: position++, at });
      fact = undefined;
    } else if (line !== "") throw new Error(`${name}: ${line}`);
  }
  return { name, turns, facts, questions };
}

/** The conversations of a folder of tests/testdata/conversations, by name. */
export async function readConversations(
  folder: "tuning" | "held_out",
): Promise<Conversation[]> {
  const url = new URL(`${folder}/`, FOLDER);
  const names = (await Array.fromAsync(Deno.readDir(url))).map(({ name }) => name).sort();
  return await Promise.all(
    names.map(async (name) =>
      parseConversation(name.replace(".txt", ""), await Deno.readTextFile(new URL(name, url)))
    ),
  );
}
