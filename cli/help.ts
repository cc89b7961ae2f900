import type { CommandName } from "./command_line.ts";

const SHARED = `
  --relayer <url>     another relayer than the one you signed in to
  --json              output for machines
  -h, --help          this text
`;

const NAMESPACE = "  --namespace <name>  where the memories live (short: --ns)";

const ONE: Readonly<Record<CommandName, string>> = {
  remember: `Usage: svc-mcp remember <text>

Saves a memory, waits until it can be recalled, and prints its id.
With - instead of a text, the text is read from standard input.

${NAMESPACE}${SHARED}
Examples:
  svc-mcp remember "I am allergic to peanuts"
  cat note.txt | svc-mcp remember - --ns notes
`,
  recall: `Usage: svc-mcp recall <query>

Finds memories by meaning, best first.

  --limit <n>         at most this many (default 10)
${NAMESPACE}${SHARED}
Examples:
  svc-mcp recall "what can I not eat?"
  svc-mcp recall tea --limit 3 --json
`,
  status: `Usage: svc-mcp status

Shows who you are signed in as and whether the relayer answers.
${SHARED}
Example:
  svc-mcp status
`,
  namespaces: `Usage: svc-mcp namespaces

Lists your namespaces with the number of memories and bytes in each.
${SHARED}
Example:
  svc-mcp namespaces --json
`,
  list: `Usage: svc-mcp list

Lists the memories of a namespace, newest first.

  --limit <n>         at most this many (default 50)
${NAMESPACE}${SHARED}
Example:
  svc-mcp list --ns notes --limit 20
`,
  forget: `Usage: svc-mcp forget <namespace> --yes

Deletes every memory of a namespace. This cannot be undone.

  --yes               yes, really${SHARED}
Example:
  svc-mcp forget old-notes --yes
`,
};

const ALL = `Usage: svc-mcp <command> [flags]

Your memories, from the terminal.

  remember <text>      save a memory (- reads standard input)
  recall <query>       find memories by meaning
  list                 list memories, newest first
  namespaces           list namespaces
  forget <namespace>   delete a whole namespace
  status               show account, key and relayer

  --namespace <name>  where the memories live (short: --ns)${SHARED}
Examples:
  svc-mcp remember "I am allergic to peanuts"
  svc-mcp recall "what can I not eat?"

More about a command: svc-mcp <command> --help
`;

/** Help for a command, or for all of them. */
export function helpText(command?: CommandName): string {
  return command === undefined ? ALL : ONE[command];
}
