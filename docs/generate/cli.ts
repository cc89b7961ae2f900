import { type CommandName, COMMANDS } from "../../cli/command_line.ts";
import { helpText } from "../../cli/help.ts";
import { ACCOUNT_USAGE } from "../../src/program/commands/account_options.ts";
import { TOKEN_USAGE } from "../../src/program/commands/token_options.ts";
import { BACKUP_USAGE, RESTORE_USAGE } from "../../src/program/commands/backup.ts";
import { CONTRACT_USAGE } from "../../src/program/commands/contract_options.ts";
import { DOCTOR_USAGE } from "../../src/program/commands/doctor.ts";
import { HELP } from "../../src/program/commands/help.ts";
import { KEY_USAGE } from "../../src/program/commands/key.ts";
import { MOVE_USAGE } from "../../src/program/move/command.ts";
import { MODEL_USAGE } from "../../src/program/model/command.ts";
import { formatted } from "./markdown.ts";

const INTRODUCTION = `# Command line

Two programs share the terminal commands: the program itself, \`npx -y deno@2.9.6 task -q svc\`, and the
stdio package, \`svc-mcp\` ([stdio.md](stdio.md) says how to get it). What follows is what \`--help\`
prints.

This page is made by \`deno task docs\` from the texts of the source.`;

const block = (text: string): string => `\`\`\`\n${text.trim()}\n\`\`\``;

/** The page of all commands, docs/cli.md. */
export async function commandLineMarkdown(): Promise<string> {
  const names = Object.keys(COMMANDS) as CommandName[];
  return await formatted([
    INTRODUCTION,
    "## svc",
    block(HELP),
    "### svc account",
    block(ACCOUNT_USAGE),
    "### svc token",
    block(TOKEN_USAGE),
    "### svc contract",
    block(CONTRACT_USAGE),
    "### svc doctor",
    block(DOCTOR_USAGE),
    "### svc backup",
    block(BACKUP_USAGE),
    "### svc restore-backup",
    block(RESTORE_USAGE),
    "### svc move",
    block(MOVE_USAGE),
    "### svc key",
    block(KEY_USAGE),
    "### svc model",
    block(MODEL_USAGE),
    "## svc-mcp",
    block(helpText("svc-mcp")),
    ...names.flatMap((name) => [`### svc-mcp ${name}`, block(helpText("svc-mcp", name))]),
  ].join("\n\n"));
}
