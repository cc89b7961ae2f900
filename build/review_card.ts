/**
 * Builds the review card into `src/wire/card/page.json`, which is committed: one page without any
 * address in it, that runs what is written here and nothing else.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { ROOT, runDeno } from "./run_deno.ts";

const FOLDER = fileURLToPath(new URL("../web/", import.meta.url));

async function hashOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${new Uint8Array(bytes).toBase64()}'`;
}

/** The card's script: the same sources give the same bytes on every machine. */
async function script(): Promise<string> {
  const output = await Deno.makeTempFile({ suffix: ".js" });
  try {
    await runDeno(
      [
        "bundle",
        "--quiet",
        "--config=../deno.json",
        "--lock=../deno.lock",
        "--frozen",
        "--platform=browser",
        "--minify",
        `--output=${output}`,
        "src/card/main.ts",
      ],
      {},
      FOLDER,
    );
    const text = (await Deno.readTextFile(output)).trim();
    if (/<\/script|<!--/i.test(text)) throw new Error("The script would end the page's element");
    return text;
  } finally {
    await Deno.remove(output);
  }
}

/** Makes the page. Its policy names the script and the styles by their hashes. */
export async function reviewCard(): Promise<string> {
  const code = await script();
  const styles = (await Deno.readTextFile(`${FOLDER}src/card/card.css`)).replace(/\s+/g, " ")
    .trim();
  const policy = [
    "default-src 'none'",
    `script-src ${await hashOf(code)}`,
    `style-src ${await hashOf(styles)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Memories</title>
<style>${styles}</style>
</head>
<body>
<main id="card"></main>
<script type="module">${code}</script>
</body>
</html>
`;
}

if (import.meta.main) {
  const page = JSON.stringify({ html: await reviewCard() }, null, 2);
  await Deno.writeTextFile(`${ROOT}src/wire/card/page.json`, `${page}\n`);
}
