import assert from "node:assert/strict";
import { mock } from "node:test";
import { OPEN_MS, OpenSecrets } from "../../../../plugins/sui/seal/keys/open_secrets.ts";

const secret = () => new Uint8Array(32).fill(7);
const erased = new Uint8Array(32);

Deno.test("secrets are answered to their account, for five minutes however often they are used", () => {
  let now = 0;
  const secrets = new OpenSecrets<string>({ now: () => now });
  using _ = { [Symbol.dispose]: () => secrets.dropAccount() };
  const bytes = secret();
  secrets.keep("k", "a", bytes, "about");
  assert.equal(secrets.get("k", "b"), undefined);
  now = OPEN_MS - 1;
  assert.equal(secrets.get("k", "a")?.about, "about");
  now = OPEN_MS;
  assert.equal(secrets.get("k", "a"), undefined);
  assert.deepEqual(bytes, erased);
  secrets.keep("k", "a", secret(), "about");
  now = -1;
  assert.equal(secrets.get("k", "a"), undefined, "the clock was put back");
});

Deno.test("secrets are erased when they are dropped, replaced, pushed out, or all go", () => {
  const secrets = new OpenSecrets({ now: () => 0, size: 2 });
  const kept = Array.from({ length: 5 }, secret);
  secrets.keep("0", "a", kept[0]!, undefined);
  secrets.drop("0");
  secrets.keep("1", "a", kept[1]!, undefined);
  secrets.keep("1", "a", kept[2]!, undefined);
  secrets.keep("3", "b", kept[3]!, undefined);
  assert.ok(secrets.get("1", "a"), "used last");
  secrets.keep("4", "a", kept[4]!, undefined);
  assert.deepEqual(kept.map((bytes) => bytes[0]), [0, 0, 7, 0, 7]);
  secrets.dropAccount("a");
  assert.equal(secrets.size, 0);
  secrets.dropAccount();
  assert.ok(kept.every((bytes) => bytes.every((byte) => byte === 0)));
});

Deno.test("what nobody asks for any more is erased when anything is kept", () => {
  let now = 0;
  const secrets = new OpenSecrets({ now: () => now });
  using _ = { [Symbol.dispose]: () => secrets.dropAccount() };
  const bytes = secret();
  secrets.keep("old", "a", bytes, undefined);
  now = OPEN_MS;
  secrets.keep("new", "b", secret(), undefined);
  assert.deepEqual([bytes, secrets.size], [erased, 1]);
});

Deno.test("what nobody asks for any more is erased by itself", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    let now = 0;
    const secrets = new OpenSecrets({ now: () => now });
    using _ = { [Symbol.dispose]: () => secrets.dropAccount() };
    const bytes = secret();
    secrets.keep("k", "a", bytes, undefined);
    now = OPEN_MS;
    mock.timers.tick(30_000);
    assert.deepEqual([bytes, secrets.size], [erased, 0]);
  } finally {
    mock.timers.reset();
  }
});
