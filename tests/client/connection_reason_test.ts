import assert from "node:assert/strict";
import { SvcClient, SvcConnectionError } from "../../src/client/mod.ts";
import { freePort } from "../free_port.ts";

/** How the health of a relayer cannot be had. */
async function failureAt(
  baseUrl: string,
  fetcher?: typeof fetch,
): Promise<SvcConnectionError> {
  const client = new SvcClient({
    baseUrl,
    privateKey: "11".repeat(32),
    retry: { attempts: 1 },
    ...(fetcher === undefined ? {} : { fetch: fetcher }),
  });
  const error = await client.health().then(() => undefined, (thrown: unknown) => thrown);
  assert.ok(error instanceof SvcConnectionError);
  assert.equal(error.message, `The relayer at ${baseUrl} ${error.reason}`);
  return error;
}

Deno.test("a relayer that does not run, and one without TLS, fail each in its own words", async () => {
  const { reason } = await failureAt(`http://127.0.0.1:${freePort()}`);
  assert.match(reason, /^cannot be reached \(.*refused.*\)$/i);
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(),
  );
  const url = `https://127.0.0.1:${server.addr.port}`;
  const plain = await failureAt(url);
  assert.match(plain.reason, /^cannot be reached \(.*corrupt message.*\)$/);
});

Deno.test("the platform's code is a part of the message, an address is not", async () => {
  const failing = (cause: unknown) => () =>
    Promise.reject(new TypeError("fetch failed", { cause }));
  const coded = (code: unknown) =>
    failing(Object.assign(new Error("at https://h/?key=1"), { code }));
  const url = "https://svc.example.org";
  const untrusted = await failureAt(url, coded("DEPTH_ZERO_SELF_SIGNED_CERT"));
  assert.equal(untrusted.reason, "cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)");
  for (const code of ["no code?key=1", 20, undefined]) {
    assert.equal((await failureAt(url, coded(code))).reason, "cannot be reached");
  }
  const said = "error for url (https://h/?key=1): client error (Connect): ";
  const unknown = await failureAt(
    url,
    failing(new Error(`${said}invalid peer certificate: UnknownIssuer`)),
  );
  assert.equal(unknown.reason, "cannot be reached (invalid peer certificate: UnknownIssuer)");
  const telling = failing(new Error(`${said}no route to https://h/?key=1`));
  assert.equal((await failureAt(url, telling)).reason, "cannot be reached");
});
