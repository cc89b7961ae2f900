import type { CommandName } from "./command_line.ts";
import { MEMORY_HELP, NAMESPACE, SHARED } from "./memories/help_texts.ts";

const ONE: Readonly<Record<CommandName, string>> = {
  login: `Usage: svc-mcp login

Signs in with your wallet in a browser. A key is made on this computer; the
dashboard adds its public half to your account. The address is printed, too,
so that you can open it elsewhere on this computer. It works for 5 minutes,
once. What you are signed in to stays until the new sign-in succeeds.

  --label <text>      name of the key on the dashboard (default: MCP Client)
  --send-key                                  let another relayer have the key
  --web-url <url>     dashboard to sign in at (short: --web)
  --no-browser        print the address only
  --local, --prod,
  --dev, --staging    both addresses of an environment
${SHARED}
Examples:
  svc-mcp login
  svc-mcp login --local --label "Work laptop"
`,
  logout: `Usage: svc-mcp logout

Deletes the credentials file. The account still lists the key: remove it on
the dashboard when nobody uses it any more.
${SHARED}
Example:
  svc-mcp logout
`,
  install: `Usage: svc-mcp install <host>

Adds the package to the MCP configuration of a host:
  claude-desktop, claude-code, cursor, codex, vscode

Shows what changes and asks first. The old file is kept beside the new one,
and no secret is written: the package signs in by itself.

  --yes               do not ask
  --print             show only
  --namespace, --label, --web-url, --transport, --no-browser and the
  environments of login become part of the host's command.
${SHARED}
Examples:
  svc-mcp install cursor
  svc-mcp install codex --ns work --yes
`,
  remember: `Usage: svc-mcp remember <text>

Saves a memory, waits until it can be recalled, and says where, with its id.
With - instead of a text, the text is read from standard input.

  --redact            saves a text with a secret without it
${NAMESPACE}${SHARED}
Examples:
  svc-mcp remember "I am allergic to peanuts"
  cat note.txt | svc-mcp remember - --ns notes
`,
  recall: `Usage: svc-mcp recall <query>

Finds memories by meaning, best first. Where none is close enough to the query
it says so, and shows the two that are nearest.

  --limit <n>         at most this many (default 10)
  --all               also those that are not close enough
${NAMESPACE}${SHARED}
Examples:
  svc-mcp recall "what can I not eat?"
  svc-mcp recall tea --limit 3 --json
`,
  status: `Usage: svc-mcp status

Shows who you are signed in as, whether the relayer answers, and in which
languages memories are found by words only.
${SHARED}
Example:
  svc-mcp status
`,
  completions: `Usage: svc-mcp completions <shell>

Prints what makes a shell complete commands and flags: bash, zsh, fish or
powershell. Add its output to what the shell reads at its start.
${SHARED}
Examples:
  svc-mcp completions bash >> ~/.bashrc
  svc-mcp completions fish > ~/.config/fish/completions/svc-mcp.fish
`,
  open: `Usage: svc-mcp open

Opens the dashboard in a browser. Where the account was made on this computer it
is signed in: the page is told the recovery words, once, within a minute.

  --no-browser        print the address only
${SHARED}
Example:
  svc-mcp open
`,
  try: `Usage: svc-mcp try

Shows in a minute what it does: saves three facts in a namespace of their own,
finds one of them by meaning, and deletes them again.
${SHARED}
Example:
  svc-mcp try
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
  activity: `Usage: svc-mcp activity

Shows what was done with your account, newest first: when, by which key, what,
in which namespace, from where, and how often within a minute. Only what a key
of the account or its wallet asked for; texts and questions are not kept.

  --limit <n>         at most this many lines (default 50)
  --key <key>         only what one key did: its label, the public key, or the
                      last eight characters of it; "owner" is the wallet
${SHARED}
Examples:
  svc-mcp activity
  svc-mcp activity --key "Work laptop"
  svc-mcp activity --limit 500 --json
`,
  ...MEMORY_HELP,
};

const ALL = `Usage: svc-mcp [command] [flags]

Private memory for AI agents: started by an MCP host (no command), it serves
MCP over stdio; in a terminal, it works with your memories.

First steps:
  svc-mcp login            sign in with your wallet, in a browser
  svc-mcp install <host>   claude-desktop, claude-code, cursor, codex, vscode

Memories:
  try                      see in a minute what it does
  remember <text>          save a memory (- reads standard input)
  recall <query>           find memories by meaning
  ask <question>           answer a question from your memories
  analyze <text>           save the facts in a text
  eval                     measure recall on questions of your own
  list                     list memories, newest first
  namespaces               list namespaces
  get <id>                 show a memory whole
  edit <id> <text>         correct a memory; --undo goes back
  history <id>             list the versions of a memory
  review                   see what contradicts what, and decide on it
  forget <id>              delete a memory; --namespace: a whole namespace
  receipt <id>             what the relayer signs about a deletion; verify it
  export                   write every memory out: NDJSON, Markdown, encrypted
  import <file>...         take memories in: of svc and other products
  restore                  put back what recall should find and does not

Account:
  login                    sign in; replaces the key in use (also --login)
  logout                   delete the key on this computer (also --logout)
  status                   show account, key and relayer
  open                     open the dashboard, signed in where it can be
  activity                 show what was read and written, and by which key

Shell:
  completions <shell>      have bash, zsh, fish or powershell complete commands

Flags, and the variables that do the same:
  --namespace <name>       SVC_NAMESPACE      where memories live (--ns)
  --relayer <url>          SVC_SERVER_URL     relayer (--relayer-url)
  --web-url <url>          SVC_WEB_URL        dashboard to sign in at (--web)
  --label <text>           SVC_CLIENT_LABEL   name of the key of a sign-in
  --transport <how>        SVC_MCP_TRANSPORT  auto, http or sse
  --no-browser             SVC_NO_BROWSER=1   never open a browser
                           SVC_MCP_DEBUG=1    say more on standard error
  --local                  this computer: relayer and dashboard
  --prod, --dev, --staging the hosted ones
  --json                   output for machines
  -h, --help               this text

A flag beats its variable; --relayer and --web-url beat an environment.
Exit codes: 0 success, 1 error, 2 usage, 3 not signed in or rejected,
4 relayer unreachable.

Examples:
  svc-mcp remember "I am allergic to peanuts"
  svc-mcp recall "what can I not eat?"

More about a command: svc-mcp <command> --help
`;

/** Help for a command, or for all of them; the program is what the user calls it. */
export function helpText(program: string, command?: CommandName): string {
  const text = command === undefined ? ALL : ONE[command];
  return text.replaceAll("svc-mcp", program);
}
