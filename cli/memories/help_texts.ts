import type { CommandName } from "../command_line.ts";

/** Flags of every command. */
export const SHARED = `
  --relayer <url>     another relayer than the one you signed in to
  --json              output for machines
  -h, --help          this text
`;

/** The flag of commands that are about one namespace. */
export const NAMESPACE = "  --namespace <name>  where the memories live (short: --ns)";

/** Flags about what opens a bundle, and who may have made it. */
const OPENING = `  --passphrase-file <file>  holds the passphrase of a bundle (-: standard input)
  --identity <file>   identities of age that open a bundle
  --key <hex>         only this key may have signed it`;

/** How a memory is named. */
const ID = `The id is the one that list shows, or its first 8 characters or more, which are
looked for in the namespace.`;

/** Help of the commands in this folder. */
export const MEMORY_HELP = {
  get: `Usage: svc-mcp get <id>

Shows a memory whole, and below it where it lives, when it was said and
accepted, its version, and what else is known about it.
${ID}

  --version <n>       as this version had it
${NAMESPACE}${SHARED}
Examples:
  svc-mcp get 0198c2a4
  svc-mcp get 0198c2a4 --version 1 --json
`,
  history: `Usage: svc-mcp history <id>

Lists the versions of a memory, newest first: number, when, text.
${ID}

  --limit <n>         at most this many (default 50)
${NAMESPACE}${SHARED}
Example:
  svc-mcp history 0198c2a4
`,
  edit: `Usage: svc-mcp edit <id> <text>
       svc-mcp edit <id> --undo

Corrects a memory: the text becomes its newest version, the older ones are kept.
Waits until it can be recalled. With - instead of a text, the text is read from
standard input; with --importance alone, the text stays.
${ID}

  --undo              goes back to the version before, as a new version
  --from <n>          with --undo: goes back to this version
  --expect <n>        only if this is its newest version
  --importance <x>    0 to 1
  --redact            saves a text with a secret without it
${NAMESPACE}${SHARED}
Examples:
  svc-mcp edit 0198c2a4 "I am allergic to peanuts and to soy"
  svc-mcp edit 0198c2a4 --undo
`,
  forget: `Usage: svc-mcp forget <id>
       svc-mcp forget --namespace <name> --yes

Deletes a memory with all its versions, or every memory of a namespace. This
cannot be undone. Before it deletes one memory it shows it and asks. Afterwards
it says whether anything is left anywhere, and until when.
${ID}
A word that is no id is taken for the name of a namespace.

  --yes               yes, really; needed where nobody can be asked
  --receipt <file>    keeps what the relayer signs about the deletion
${NAMESPACE}${SHARED}
Examples:
  svc-mcp forget 0198c2a4
  svc-mcp forget --namespace old-notes --yes
`,
  receipt: `Usage: svc-mcp receipt <id>...
       svc-mcp receipt verify <file>

Asks for a receipt of memories that were deleted, as things are now: what was
left at first may be gone by now. Their whole ids are needed. With verify it
checks a receipt in a file, without asking anybody; where you are signed in, it
also compares its key with the one that the relayer publishes.

  --output <file>     keeps the receipt
  --key <hex>         verify: only this key may have made it; asks nobody
${NAMESPACE}${SHARED}
Examples:
  svc-mcp forget 0198c2a4 --receipt gone.json
  svc-mcp receipt verify gone.json
`,
  ask: `Usage: svc-mcp ask <question>

Answers a question from your memories, and shows those that the answer rests on.
A relayer without a language model shows the memories that fit best.

  --limit <n>         rests on at most this many (default 5)
${NAMESPACE}${SHARED}
Example:
  svc-mcp ask "what should I not cook for Ada?"
`,
  analyze: `Usage: svc-mcp analyze <text>

Takes the facts out of a text of at most 64 KiB and saves each as a memory. With
- instead of a text, the text is read from standard input.

${NAMESPACE}${SHARED}
Examples:
  svc-mcp analyze "Ada moved to Oslo in May. She is allergic to hazelnuts."
  cat meeting.txt | svc-mcp analyze - --ns work
`,
  eval: `Usage: svc-mcp eval --questions <file>

Asks questions of your own and says how often the right memory is first, among
five and among ten: by all that recall knows, by meaning and by words, with 95 %
intervals. With another embedding model, run it again: the row of meaning says
what the model is worth on your memories. Nothing is changed.

A line of the file is a question, " => ", and the id of the memory that answers
it, or words of its text; lines that begin with # are left out:

  what should I not cook for Ada? => allergic to peanuts

  --questions <file>  at most 1000 questions
${NAMESPACE}${SHARED}
Example:
  svc-mcp eval --questions questions.txt --ns work
`,
  review: `Usage: svc-mcp review
       svc-mcp review accept <id> [<other id>]
       svc-mcp review undo <id> [<other id>]
       svc-mcp review policy suggest | auto | off | default
       svc-mcp review duplicates fold | keep | default

Lists what a rule found about the memories of a namespace and nobody has decided
on: one that says something else than an older one, took its place, or says the
same; and what came from the web or another product.

accept makes it your word: of two that contradict each other the newer one takes
the older one's place. undo takes it back, for good; nothing is deleted. policy
says what becomes of contradictions from now on: both stay and are linked
(suggest), the newer one takes the place (auto), nobody looks (off), or what the
relayer is set to (default). duplicates says what becomes of what says the same
as a memory that is there: kept behind it (fold), or beside it (keep).

  --limit <n>         at most this many (default 50)
${NAMESPACE}${SHARED}
Examples:
  svc-mcp review
  svc-mcp review accept 0198c2a4
  svc-mcp review policy auto --ns work
`,
  restore: `Usage: svc-mcp restore

Repairs a namespace: memories that are in the blob store and that recall does
not find are put back into the index. It goes on until nothing is left, and may
be repeated. (What svc restore-backup puts back is a whole relayer.)

  --limit <n>         at most this many memories
${NAMESPACE}${SHARED}
Example:
  svc-mcp restore --ns work
`,
  export: `Usage: svc-mcp export
       svc-mcp export verify <file>

Writes every memory out, of all namespaces or of one, as NDJSON with ids, times
and versions; import takes it back. It is whole when its last line has the type
"end". The memories in it are not encrypted, but in a bundle: that one is signed
with the key of this computer, too. With verify it checks a bundle, and who made
it, without asking anybody.

  --output <file>     into a file that only you may read, instead of standard
                      output; until it is whole it is called <file>.part
  --markdown <dir>    a Markdown file for each memory instead; repeated, it
                      removes those of memories that are gone, as it wrote them
  --bundle <file>     an encrypted file instead; asks for a passphrase
  --recipient <age1…> for a key of age instead of a passphrase; may be repeated
  --history           what memories said before, too; not as Markdown
  --namespace <name>  this one only (short: --ns)
${OPENING}${SHARED}
Examples:
  svc-mcp export --output memories.ndjson
  svc-mcp export --bundle memories.age
  svc-mcp export verify memories.age
`,
  import: `Usage: svc-mcp import <file>...

Saves the memories in files, and in the files of folders: exports and bundles of
svc, and what ChatGPT, Claude, mem0 and others write. Each is recognised by what
is in it. What is there already is not taken twice, so that it may be repeated.
The facts in conversations are saved by analyze, after you were asked. With -
instead of a file, it is read from standard input.

  --preview           shows what would be taken and what not; sends nothing
  --from <format>     what the files are: mem0, mcp-memory, chatgpt, claude,
                      claude-code, basic-memory, markdown, svc-markdown, svc
  --namespace <name>  puts all of them there (short: --ns)
  --bring-back        takes also what was deleted here
  --redact            takes memories with secrets without these
  --yes               analyzes conversations, and takes what an unknown key
                      signed, without asking
${OPENING}${SHARED}
Examples:
  svc-mcp import memories.ndjson
  svc-mcp import conversations.json notes/ --preview
`,
} satisfies Partial<Record<CommandName, string>>;
