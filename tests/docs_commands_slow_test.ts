import assert from "node:assert/strict";
import { bech32 } from "@scure/base";
import { freePort } from "./free_port.ts";
import { LOCKED } from "./locked.ts";
import { inHome, Program, relayerEnv } from "./program.ts";

const ROOT = new URL("../", import.meta.url);

/** A shell block of a page. */
interface Block {
  readonly page: string;
  readonly text: string;
}

/** Pages whose blocks are all run by a test of their own. */
const WHOLE_PAGES: Readonly<Record<string, string>> = {
  "docs/first-day.md": "tests/docs_first_day_slow_test.ts",
  "docs/http.md": "tests/docs_curl_slow_test.ts",
};

/** Blocks that a test runs elsewhere, by what they contain: the test, or the step of `.ci/run`. */
const ELSEWHERE: readonly (readonly [page: string, part: string, where: string])[] = [
  ["README.md", "task start\n", ".ci/run"],
  ["README.md", "svc recall", ".ci/run"],
  ["README.md", "task test\n", ".ci/run"],
  ["README.md", "start:localnet", "tests/e2e/start_localnet_test.ts"],
  ["docs/operations.md", "start:localnet", "tests/e2e/start_localnet_test.ts"],
  ["CONTRIBUTING.md", "task test:unit", ".ci/run"],
  ["docs/dashboard.md", "task web", ".ci/run"],
  ["docs/devnet.md", "devnet/main.ts", "tests/devnet"],
  ["docs/mcp.md", "inspector", "tests/mcp_inspector.ts"],
  ["docs/mcp.md", "task conformance", "tests/mcp_conformance.ts"],
  ["docs/hosts.md", "svc-mcp install", "tests/cli/install_test.ts"],
  ["docs/stdio.md", "task bundle", "tests/e2e/stdio_shipping_test.ts"],
  ["docs/stdio.md", "svc-mcp login", "tests/cli/login_test.ts"],
  ["docs/stdio.md", "svc-mcp install claude-desktop", "tests/cli/install_test.ts"],
  ["docs/stdio.md", "svc-mcp install cursor", "tests/cli/install_test.ts"],
  ["docs/stdio.md", "deno run --no-prompt --no-config", "tests/e2e/stdio_variants.ts"],
  ["docs/plugins.md", "mod_test.ts", "tests/e2e/outside_plugin_test.ts"],
  ["docs/plugins.md", "deno@2.9.6 cache", "tests/e2e/outside_plugin_test.ts"],
  ["docs/releasing.md", "task release", "tests/e2e/release_test.ts"],
  ["docs/releasing.md", "task site", "tests/site_slow_test.ts"],
  ["docs/contract.md", "contract publish", "tests/program/contract_command_slow_test.ts"],
  ["docs/postgres.md", "svc move --to", "tests/program/move/postgres_slow_test.ts"],
  ["docs/postgres.md", "pg_dump", "tests/e2e/database_backup_test.ts"],
  ["docs/postgres.md", "pg_restore", "tests/e2e/database_backup_test.ts"],
  ["docs/models.md", "svc model get", "tests/program/model_command_slow_test.ts"],
  ["docs/accounts.md", "--wallet-file", "tests/program/account_command_chain_slow_test.ts"],
];

/** Blocks that no test can run, and why. */
const NOT_RUN: readonly (readonly [page: string, part: string, why: string])[] = [
  ["README.md", "git clone ADDRESS", "there is no public address of the source yet"],
  ["docs/hosts.md", "claude mcp add", "Claude Code is another product, and not installed"],
  ["docs/models.md", "ollama pull", "Ollama is another product; its weights are a download"],
  ["docs/releasing.md", "docker compose", "there is no container engine"],
];

async function blocks(): Promise<Block[]> {
  const pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];
  for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) {
    if (name.endsWith(".md")) pages.push(`docs/${name}`);
  }
  const found: Block[] = [];
  for (const page of pages.sort()) {
    const markdown = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, text = ""] of markdown.matchAll(/^```(?:sh|bash|shell)\n([^]*?)```/gm)) {
      found.push({ page, text });
    }
  }
  return found;
}

const isListed = ({ page, text }: Block) =>
  page in WHOLE_PAGES ||
  [...ELSEWHERE, ...NOT_RUN].some(([of, part]) => of === page && text.includes(part));

/** Whether a block starts a relayer with settings: these are looked at, not started. */
const isStart = ({ text }: Block) => /deno(@[\d.]+)? task start/.test(text);

const PROGRAM = `deno run ${LOCKED.join(" ")} --quiet -A ${new URL("main.ts", ROOT).pathname}`;

/** The program in place of how a person calls it. */
const called = (text: string) =>
  text.replaceAll(
    /npx -y deno@2\.9\.6 task (?:-q )?svc|^deno task svc|(?<=^|\s)svc(?= )/gm,
    PROGRAM,
  );

async function bash(script: string, home: string, env: Readonly<Record<string, string>>) {
  const cache = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-eu", "-c", script],
    cwd: home,
    env: { ...env, HOME: home, DENO_DIR: cache, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.equal(code, 0, `${script}\n${out}${errors}`);
  return out!;
}

Deno.test("every command of a page is run by a test, or there is a reason", async () => {
  const all = await blocks();
  const entries = [...ELSEWHERE, ...NOT_RUN];
  const gone = entries.filter(([page, part]) =>
    !all.some((block) => block.page === page && block.text.includes(part))
  );
  assert.deepEqual(gone, [], "no page has these any more");
  for (const where of [...Object.values(WHOLE_PAGES), ...ELSEWHERE.map(([, , path]) => path)]) {
    await Deno.stat(new URL(where, ROOT));
  }
  const own = all.filter((block) => !isListed(block) && !isStart(block));
  const pages = new Set(own.map(({ page }) => page));
  assert.deepEqual([...pages].sort(), Object.keys(RUN_HERE).sort());
});

/** What takes the place of what a reader fills in. */
const PLACEHOLDERS: readonly (readonly [RegExp, string])[] = [
  [/https:\/\/…/g, "https://key.example.org"],
  [/enoki_private_…/g, "enoki_private_0123456789"],
  [/API_KEY=…/g, "API_KEY=key"],
];

/** A private key as wallets of Sui show it. */
const walletKey = (seed: number) =>
  bech32.encode("suiprivkey", bech32.toWords(Uint8Array.of(0, ...Array(32).fill(seed))), false);

Deno.test("the settings that pages show are settings that work", async () => {
  await inHome(async (home) => {
    let keys = 1;
    for (const { page, text } of await blocks()) {
      if (isListed({ page, text }) || !isStart({ page, text })) continue;
      let script = text.replaceAll(/^npx.*doctor.*\n/gm, "")
        .replaceAll(/(?:npx -y )?deno(?:@[\d.]+)? task start/g, `${PROGRAM} --print-config`);
      for (const [what, by] of PLACEHOLDERS) script = script.replaceAll(what, by);
      script = script.replaceAll("suiprivkey…", () => walletKey(keys++))
        .replaceAll("0x…", () => `0x${String(keys++).padStart(64, "0")}`);
      const out = await bash(script, home, {});
      assert.match(out, /SVC_/, page);
    }
  });
});

/** Blocks that run here, beside a relayer with an account: what their output must show. */
const RUN_HERE: Readonly<Record<string, readonly RegExp[]>> = {
  "docs/accounts.md": [/^$/],
  "docs/backup.md": [
    /Backup written, and read back: .*\.age/,
    /^$/,
    /Restored \d+ files/,
    /Signed in/,
    /Every byte of .* is as it was written/,
  ],
  "docs/export.md": [
    /^\d+ memor.*: memories\.ndjson\n.*\n? *\d+ (is|are) there already/,
    /memor.* and \d+ earlier versions?: with-history\.ndjson\n/,
    /The bundle is whole, [^]*\d+ (is|are) there already/,
    /^\d+ memor.*: notes\n/,
  ],
  "docs/hosts.md": [/svct1\./],
  "docs/mcp.md": [/svct1\./],
  "docs/operations.md": [/relayer key/],
  "docs/recall.md": [/first +among 5 +among 10/],
  "docs/sharing.md": [/svct1\./, /Ada's agent|Nothing was done/, /Ada's agent/],
  "docs/troubleshooting.md": [/ok +settings[^]*Next:/],
  "docs/typescript.md": [/permissions +write/],
};

Deno.test("the commands of the other pages do what the pages say", async () => {
  const pages = (await blocks()).filter((block) => !isListed(block) && !isStart(block));
  // A restore of a backup needs the relayer stopped.
  const isBackup = ({ page }: Block) => page === "docs/backup.md";
  const all = [...pages.filter((block) => !isBackup(block)), ...pages.filter(isBackup)];
  await inHome(async (home) => {
    const port = String(freePort());
    const own = { ...relayerEnv(home), SVC_PORT: port, SVC_FIRST_ACCOUNT: "true" };
    const env = { ...own, SVC_PUBLIC_URL: `http://127.0.0.1:${port}` };
    const relayer = new Program(["start"], own);
    try {
      await relayer.event("listening");
      await bash(`${PROGRAM} remember "I am allergic to peanuts"`, home, env);
      await Deno.writeTextFile(
        `${home}/questions.txt`,
        "what must I not eat? => allergic to peanuts\n",
      );
      let last = "";
      const shown = new Map<string, RegExp[]>(
        Object.entries(RUN_HERE).map(([page, wanted]) => [page, [...wanted]]),
      );
      for (const { page, text } of all) {
        const backups = `${home}/.svc/backups`;
        let script = called(text)
          .replaceAll(/0x…\s+#.*/g, `0x${"ab".repeat(32)}`)
          .replaceAll(/deno\(\) \{.*\n/g, "");
        if (script.includes("svc-backup-")) {
          for await (const { name } of Deno.readDir(backups)) last = `${backups}/${name}`;
          script = script.replaceAll(/~\/\.svc\/backups\/svc-backup-\w+\.age/g, last);
        }
        if (script.includes("restore-backup")) {
          relayer.kill("SIGTERM");
          await relayer.end();
          await Deno.rename(`${home}/.svc/relayer`, `${home}/lost`);
        }
        if (script.includes("account recover")) {
          const { words } = JSON.parse(await Deno.readTextFile(`${home}/.svc/owner.json`));
          await Deno.remove(`${home}/.svc/credentials.json`);
          script = `printf '%s\\n' '${words}' | ${script}`;
        }
        // A reader takes longer than the two seconds after which a new key is known.
        if (script.includes("activity --key")) {
          script = `for try in $(seq 10); do ${script.trim()} && break; sleep 0.5; done`;
        }
        // A finding of the doctor is no failure of the page.
        if (script.includes(" doctor")) script = `set +e\n${script}\ntrue`;
        assert.match(await bash(script, home, env), shown.get(page)!.shift()!, page);
      }
      assert.deepEqual([...shown.values()].flat(), []);
    } finally {
      await relayer[Symbol.asyncDispose]();
    }
  });
});
