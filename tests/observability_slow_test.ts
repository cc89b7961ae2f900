import assert from "node:assert/strict";
import { parse } from "yaml";
import { inHome, Program, relayerEnv } from "./program.ts";

const FOLDER = new URL("../deploy/observability/", import.meta.url);
const read = (name: string) => Deno.readTextFile(new URL(name, FOLDER));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

Deno.test("the dashboard and the alerts name metrics that a relayer has", async () => {
  const alerts: { groups: { rules: Rule[] }[] } = parse(await read("alerts.yaml"));
  const rules = alerts.groups.flatMap(({ rules }) => rules);
  assert.ok(rules.every(({ alert, annotations }) => /^Svc\w+$/.test(alert) && annotations.summary));
  const { panels }: { panels: Panel[] } = JSON.parse(await read("grafana.json"));
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  const page = await Deno.readTextFile(new URL("../docs/observability.md", import.meta.url));
  const documented = [...page.matchAll(/^\| `(svc_\w+)`/gm)].map(([, name]) => name!);
  await inHome(async (home) => {
    await using program = new Program(["start"], relayerEnv(home));
    const { port } = await program.event("listening");
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
    const named = expressions.flatMap((expr) =>
      [...expr.matchAll(/svc_\w+/g)].map(([name]) => name)
    );
    const bare = named.map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    assert.deepEqual([...new Set(bare)].filter((name) => !known.has(name)), []);
    const own = [...known].filter((name) => name.startsWith("svc_"));
    // Absent while the sidecar does not tell.
    own.push(...["svc_mcp_sessions"].filter((name) => !known.has(name)));
    assert.deepEqual(documented.sort(), own.sort());
  });
});
