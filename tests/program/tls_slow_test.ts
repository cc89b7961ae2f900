import assert from "node:assert/strict";
import { inHome, Program, relayerEnv } from "../program.ts";
import { CERTIFICATES, RawClient } from "../http1/raw_client.ts";
import { verifies } from "../requirements.ts";

const GET = "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

/** The answer to a request over a connection that trusts this certificate alone. */
async function answered(port: number, certificate: keyof typeof CERTIFICATES): Promise<string> {
  using client = await RawClient.open(port, "tls", certificate);
  await client.send(GET);
  return await client.until("\r\n\r\n");
}

async function write(home: string, cert: string, key: string): Promise<void> {
  await Deno.writeTextFile(`${home}/cert.pem`, cert);
  await Deno.writeTextFile(`${home}/key.pem`, key, { mode: 0o600 });
}

const tlsEnv = (home: string) => ({
  ...relayerEnv(home),
  SVC_LOG_LEVEL: "info",
  SVC_TLS_CERT_FILE: `${home}/cert.pem`,
  SVC_TLS_KEY_FILE: `${home}/key.pem`,
});

Deno.test("the relayer ends TLS itself, and takes a new certificate without a restart", async () => {
  verifies("3-72", "15-61");
  await inHome(async (home) => {
    const { first, second } = CERTIFICATES;
    await write(home, first.cert, first.key);
    const env = { ...tlsEnv(home), SVC_PUBLIC_URL: "https://memory.example.org" };
    await using program = new Program(["start"], env);
    const port = Number((await program.event("listening")).port);
    using kept = await RawClient.open(port, "tls");
    await kept.send(GET);
    assert.match(
      await kept.until("\r\n\r\n"),
      /^HTTP\/1\.1 200 .*strict-transport-security: max-age=31536000\r\n/s,
    );
    using plain = await RawClient.open(port);
    await plain.send(GET);
    assert.ok(!(await plain.rest()).includes("HTTP/1.1 200"));

    // The other half comes later, and a half is nothing.
    await write(home, second.cert, first.key);
    await program.event("TLS certificate not loaded");
    await answered(port, "first");
    await write(home, second.cert, second.key);
    await program.event("TLS certificate loaded");
    await answered(port, "second");
    await assert.rejects(answered(port, "first"));
    await kept.send(GET);
    assert.match(await kept.until("\r\n\r\n"), /^HTTP\/1\.1 200 /);
  });
});

Deno.test("a certificate that cannot be used stops the start; an open key is told", async () => {
  verifies("15-60");
  await inHome(async (home) => {
    const { first, second } = CERTIFICATES;
    const refused = async (why: RegExp) => {
      await using program = new Program(["serve"], tlsEnv(home));
      assert.notEqual(await program.end(), 0);
      assert.match(program.errors.join("\n"), why);
    };
    await refused(/SVC_TLS_CERT_FILE: .*cert\.pem cannot be read/);
    await write(home, first.cert, second.key);
    await refused(/SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE: .*cannot be used/);
    await write(home, first.cert, first.key);
    await Deno.chmod(`${home}/key.pem`, 0o644);
    await using program = new Program(["serve"], tlsEnv(home));
    const { reason } = await program.event("TLS key");
    assert.match(String(reason), /key\.pem is open to other users/);
    const port = Number((await program.event("listening")).port);
    // A browser would ask for all of this machine by https.
    assert.ok(!(await answered(port, "first")).includes("strict-transport-security"));
  });
});
