import { COMMAND_FLAGS, COMMANDS } from "./command_line.ts";
import { FLAG_NAMES } from "./flags.ts";
import { CommandError, EXIT, programOf } from "./io.ts";
import type { Session } from "./session.ts";

/** Words that may follow each command. */
type Words = Readonly<Record<string, readonly string[]>>;

/** Shells that are known, and what makes one complete the words of a program. */
const SHELLS: Readonly<Record<string, (program: string, words: Words) => string>> = {
  bash,
  zsh: (program, words) =>
    `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bash(program, words)}`,
  fish,
  powershell,
};

function bash(program: string, words: Words): string {
  const cases = Object.entries(words)
    .map(([command, next]) => `      ${command}) words="${next.join(" ")}" ;;\n`).join("");
  const name = `_${program.replaceAll("-", "_")}`;
  return `${name}() {
  local words="" current="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${Object.keys(words).join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${cases}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F ${name} ${program}
`;
}

function fish(program: string, words: Words): string {
  const start = `complete -c ${program} -f`;
  const lines = Object.entries(words).flatMap(([command, next]) => [
    `${start} -n __fish_use_subcommand -a ${command}`,
    ...next.map((word) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `${start} -n "__fish_seen_subcommand_from ${command}" ${what}`;
    }),
  ]);
  return `${start}\n${lines.join("\n")}\n`;
}

function powershell(program: string, words: Words): string {
  const quoted = (list: readonly string[]) => list.map((word) => `'${word}'`).join(", ");
  const entries = Object.entries(words)
    .map(([command, next]) => `    '${command}' = @(${quoted(next)})\n`).join("");
  return `Register-ArgumentCompleter -Native -CommandName ${program} -ScriptBlock {
  param($current, $line, $position)
  $words = @{
${entries}  }
  $typed = @($line.CommandElements | ForEach-Object { $_.ToString() })
  $isFirst = $typed.Count -lt 2 -or ($typed.Count -eq 2 -and $current -ne '')
  $next = if ($isFirst) { $words.Keys } else { $words[$typed[1]] }
  $next | Where-Object { $_ -like "$current*" } | Sort-Object
}
`;
}

/** Words that some commands take besides flags. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  export: ["verify"],
  receipt: ["verify"],
  review: ["accept", "undo", "policy"],
};

/** Words behind the package's own commands. */
function ownWords(): Words {
  const shared = [...FLAG_NAMES.filter((name) => !name.startsWith("log")), "json"];
  return Object.fromEntries(
    Object.entries(COMMANDS).map(([command, { flags }]) => {
      const given = flags.filter((flag) => flag in COMMAND_FLAGS);
      const written = [...given, ...shared].map((name) => `--${name}`).sort();
      return [command, [...SUBCOMMANDS[command] ?? [], ...written]];
    }),
  );
}

/** Prints what makes a shell complete commands and flags. */
export function printCompletions({ io, line }: Session): Promise<void> {
  const shell = line.words.trim().toLowerCase();
  if (!Object.hasOwn(SHELLS, shell)) {
    const known = Object.keys(SHELLS).join(", ");
    throw new CommandError(EXIT.usage, `Completions are there for ${known}.`);
  }
  const words = { ...ownWords(), completions: Object.keys(SHELLS), ...io.furtherCommands };
  io.write(SHELLS[shell]!(programOf(io), words));
  return Promise.resolve();
}
