/**
 * Bundles the stemmers of a package into `src/index/words/stemmers.js`, which is committed: of the
 * 4 MB that a first start would keep of the package, the program needs 130 KB.
 *
 * @module
 */
import { fileURLToPath } from "node:url";

const FOLDER = new URL(".", import.meta.url);

const { code, stderr } = await new Deno.Command(Deno.execPath(), {
  cwd: fileURLToPath(FOLDER),
  args: [
    "bundle",
    "--quiet",
    "--config=../deno.json",
    "--lock=../deno.lock",
    "--frozen",
    "--minify",
    "--output=../src/index/words/stemmers.js",
    "stemmer_exports.ts",
  ],
}).output();
if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
