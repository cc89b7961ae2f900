import { programOf } from "./io.ts";
import { hitLines } from "./commands.ts";
import { paintFor } from "./output.ts";
import { clientOf, print, type Session } from "./session.ts";

/** Where the facts of the demonstration live, which is emptied again. */
const NAMESPACE = "svc-try";

const FACTS = [
  "Grandma Ada is allergic to hazelnuts",
  "The boiler was last serviced in March by Weber & Sons",
  "Our train to Lisbon leaves at 9:40 from platform 4",
];

const QUESTION = "which dessert should I not bake for her?";

/** The first line of standard input; empty where nobody types. */
async function typed({ io }: Session): Promise<string> {
  let text = "";
  for await (const piece of io.stdin?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0]!.trim();
}

/** Shows in a minute what the program does: saves facts, finds one by meaning, deletes them. */
export async function tryOut(session: Session): Promise<void> {
  const { io, line } = session;
  const client = clientOf(session);
  const paint = paintFor(io);
  const say = (text: string) => {
    if (!line.json) io.write(text);
  };
  say("Three facts, encrypted and indexed by meaning on this relayer:\n\n");
  const jobs = [];
  for (const text of FACTS) {
    jobs.push((await client.remember(text, { namespace: NAMESPACE })).job_id);
    say(`  ${text}\n`);
  }
  try {
    for (const job of jobs) await client.waitFor(job);
    say(`\nAsk about them in your own words ${paint.dim(`(Enter: ${QUESTION})`)}\n> `);
    const asked = io.isTerminal && !line.json ? await typed(session) : "";
    const question = asked || QUESTION;
    if (!io.isTerminal) say(`${question}\n`);
    const found = await client.recall(question, { namespace: NAMESPACE, limit: 2 });
    const own = await client.publicKey();
    const lines = found.results.map((hit, i) => hitLines(hit, i, paint, { own })).join("");
    const program = programOf(io);
    print(
      session,
      { question, results: found.results },
      `\n${lines}\nNo word of the question has to be in the fact. The three are deleted again.\n\n` +
        `Now with facts of your own:\n` +
        `  ${program} remember "I am allergic to peanuts"\n` +
        `  ${program} install <host>   gives them to an AI app\n` +
        `  ${program} open             shows them in a browser\n`,
    );
  } finally {
    await client.forget(NAMESPACE);
  }
}
