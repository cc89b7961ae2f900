import assert from "node:assert/strict";
import { permissionFlags, relayerPermissions } from "../../src/program/launcher/permissions.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { connectProven } from "../../src/http/oauth/proven_connection.ts";
import { readPublic } from "../../src/http/oauth/public_https.ts";
import type { PublicNetwork } from "../../src/interfaces/public_network.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";
import { CLIENT, leadingTo, RawServer } from "./document_server.ts";

/** What a person is told whose app names itself by a document that cannot be read. */
async function toldOf(extra: Record<string, string>, clientId: string): Promise<string> {
  let told = "";
  await inHome(async (home) => {
    await using program = new Program(["start"], { ...relayerEnv(home), ...extra });
    const { port } = await program.event("listening");
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: "http://127.0.0.1/" });
    const response = await fetch(`http://127.0.0.1:${port}/oauth/authorize?${query}`);
    assert.equal(response.status, 400);
    told = await response.text();
  });
  return told;
}

Deno.test("the started program reads documents where it is told to, and else nothing", async () => {
  verifies("11.1-10");
  const clientId = "https://no-such-host.invalid/client.json";
  assert.match(await toldOf({}, clientId), /has to register/);
  // Whatever the network here answers.
  const asked = await toldOf({ SVC_CLIENT_METADATA: "true" }, clientId);
  assert.match(asked, /The client's document cannot be used/);
});

/** Tries addresses and prints those that the permissions refuse, then whether a public one is let. */
const TRY = `
  import { connect } from "node:tls";
  const answers = [];
  for (const [host, port] of JSON.parse(Deno.args[0])) {
    await new Promise((resolve) => {
      const socket = connect({ host, port });
      socket.on("error", ({ name }) => {
        if (name === "NotCapable") answers.push(host + " " + port);
      });
      socket.on("close", resolve);
    });
  }
  const host = "203.0.114.7:443";
  answers.push((await Deno.permissions.query({ name: "net", host })).state);
  console.log(JSON.stringify(answers));
  Deno.exit();
`;

Deno.test("the system itself keeps the relayer from private networks", async () => {
  verifies("11.1-11");
  const { settings } = readSettings({
    HOME: "/home/ada",
    SVC_CLIENT_METADATA: "true",
    SVC_WEB_PORT: "0",
  });
  const net = relayerPermissions(settings, [], []).net
    .filter((entry) => !entry.endsWith(":53"));
  const flags = permissionFlags({
    net,
    read: [],
    write: [],
    env: [],
    ffi: [],
    sys: [],
    run: false,
  });
  const refused = [
    ...["127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"],
    ...["100.64.0.1", "0.0.0.0", "224.0.0.1", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"],
    ...["::ffff:7f00:1", "fd00::1", "fe80::1", "2606:4700::1111"],
  ].map((host) => [host, 443]);
  const asked = [...refused, ["1.1.1.1", 80], ["203.0.114.7", 22]];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-prompt", ...flags, "-", JSON.stringify(asked)],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // What is let through may never answer.
    signal: AbortSignal.timeout(20_000),
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(TRY));
  await writer.close();
  const { stdout } = await child.output();
  assert.deepEqual(
    JSON.parse(new TextDecoder().decode(stdout)),
    [...asked.map(([host, port]) => `${host} ${port}`), "granted"],
  );
});

/** Sockets and files of this process. */
const descriptors = () => [...Deno.readDirSync("/proc/self/fd")].length;

Deno.test({
  name: "a server that never answers the hello keeps no socket",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    verifies("11.1-12");
    const never = Promise.withResolvers<void>();
    await using silent = new RawServer(() => never.promise);
    const network: PublicNetwork = {
      ...leadingTo(silent),
      connect: (_address, name, signal) => connectProven("127.0.0.1", name, signal, silent.port),
    };
    const give = async (ms: number) => {
      const { answer, over } = readPublic(network, new URL(CLIENT), ms);
      await assert.rejects(answer, /took too long/);
      await over;
    };
    await give(100);
    const before = descriptors();
    const readings = [0, 1, 100, 100, 100, 100, 100, 100].map(give);
    await Promise.all(readings);
    // The server here keeps its ends, which are of this process as well.
    await poll(descriptors, (open) => open <= before + readings.length);
    never.resolve();
  },
});
