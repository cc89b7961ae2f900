import assert from "node:assert/strict";
import { clientIp } from "../../src/http/request.ts";
import { inRanges, isLoopback, limitKey } from "../../src/wire/ip_addresses.ts";
import { startRelayer } from "../relayer_fixture.ts";
import { verifies } from "../requirements.ts";

Deno.test("addresses are compared with addresses and ranges", () => {
  verifies("15-21");
  const inside: readonly (readonly [address: string, range: string])[] = [
    ["10.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.3"],
    ["10.1.2.3", "10.1.2.3/32"],
    ["10.1.2.3", "0.0.0.0/0"],
    ["10.1.2.3", "10.1.2.2/31"],
    ["::ffff:10.1.2.3", "10.0.0.0/8"],
    ["::ffff:a01:203", "10.0.0.0/8"],
    ["2001:db8::1", "2001:db8::/32"],
    ["2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1/128"],
    ["fe80::1%eth0", "fe80::/10"],
    ["::1", "::1"],
    ["::", "::/0"],
    ["1::", "1::"],
  ];
  for (const [address, range] of inside) {
    assert.ok(inRanges(address, ["192.0.2.1", range]), `${address} in ${range}`);
  }
  const outside: readonly (readonly [address: string, range: string])[] = [
    ["11.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "10.1.2.4/31"],
    ["10.1.2.3", "::/0"],
    ["2001:db8::1", "0.0.0.0/0"],
    ["2001:db9::1", "2001:db8::/32"],
    ["10.1.2", "0.0.0.0/0"],
    ["10.1.2.256", "0.0.0.0/0"],
    ["10.1.2.3.4", "0.0.0.0/0"],
    ["", "0.0.0.0/0"],
    ["1::2::3", "::/0"],
    ["1:2:3:4:5:6:7", "::/0"],
    ["1:2:3:4:5:6:7:8:9", "::/0"],
    ["12345::", "::/0"],
    ["::10.1.2.3", "10.0.0.0/8"],
    ["64:ff9b::10.1.2.3", "::/0"],
    ["010.1.2.3", "10.0.0.0/8"],
    ["0xa010203", "10.0.0.0/8"],
    ["10.1.2.3", "10.0.0.0/"],
    ["10.1.2.3", "10.0.0.0/33"],
    ["10.1.2.3", "10.0.0.0/-1"],
    ["10.1.2.3", "10.0.0.0/1e0"],
    ["10.1.2.3", "10.0.0.0/8/8"],
  ];
  for (const [address, range] of outside) {
    assert.ok(!inRanges(address, [range]), `${address} not in ${range}`);
  }
  assert.ok(!inRanges("10.1.2.3", []));
});

Deno.test("loopback is 127.0.0.0/8 and ::1, also mapped", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"]) {
    assert.ok(isLoopback(address), address);
  }
  for (const address of ["128.0.0.1", "10.0.0.1", "::2", "", "localhost"]) {
    assert.ok(!isLoopback(address), address);
  }
});

Deno.test("X-Forwarded-For counts behind trusted proxies only, from the right", () => {
  verifies("3-19", "3-20", "3-21");
  const proxies = ["10.0.0.0/8", "2001:db8::/32"];
  const cases: readonly (readonly [peer: string, header: string | null, client: string])[] = [
    ["198.51.100.1", null, "198.51.100.1"],
    ["198.51.100.1", "203.0.113.9", "198.51.100.1"],
    ["10.0.0.1", null, "10.0.0.1"],
    ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    ["10.0.0.1", "1.1.1.1,203.0.113.9 ,10.0.0.2,10.0.0.3", "203.0.113.9"],
    ["10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.1"],
    ["10.0.0.1", "1.1.1.1, unknown", "10.0.0.1"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["10.0.0.1", "2001:db9::1, 2001:db8::5", "2001:db9::1"],
    ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "1.1.1.1:80, 203.0.113.9:4711", "203.0.113.9"],
    ["10.0.0.1", "203.0.113.9:4711, 10.0.0.2:5", "203.0.113.9"],
    ["10.0.0.1", "[2001:db9::1]:4711", "2001:db9::1"],
    ["10.0.0.1", "[2001:db9::1], [2001:db8::5]", "2001:db9::1"],
    ["10.0.0.1", "203.0.113.9:", "10.0.0.1"],
    ["10.0.0.1", "localhost:80", "10.0.0.1"],
  ];
  for (const [peer, header, client] of cases) {
    assert.equal(clientIp(peer, header, proxies), client, `${peer} ${header}`);
  }
  assert.equal(clientIp("127.0.0.1", "203.0.113.9", []), "127.0.0.1");
});

Deno.test("limits count an IPv6 network of 64 bits as one client", () => {
  assert.equal(limitKey("2001:db8::1"), limitKey("2001:db8::ffff"));
  assert.equal(limitKey("2001:db8::1"), limitKey("2001:DB8:0:0:1::"));
  assert.notEqual(limitKey("2001:db8::1"), limitKey("2001:db8:0:1::1"));
  assert.equal(limitKey("::ffff:192.0.2.1"), limitKey("192.0.2.1"));
  assert.notEqual(limitKey("192.0.2.1"), limitKey("192.0.2.2"));
});

Deno.test("look-ups are counted by client address, not by what a stranger claims", async () => {
  verifies("3-20", "4.5-18");
  await using svc = await startRelayer({
    config: { accountLookupsPerMinute: 1, trustedProxies: ["10.0.0.1"] },
  });
  const send = async (peer: string, forwarded: string) => {
    const key = await svc.addKey();
    const options = { key, peer, headers: { "x-forwarded-for": forwarded } };
    return (await svc.post("/api/stats", {}, options)).status;
  };
  assert.equal(await send("10.0.0.1", "203.0.113.1"), 200);
  assert.equal(await send("10.0.0.1", "203.0.113.2"), 200);
  assert.equal(await send("10.0.0.1", "203.0.113.1"), 429);
  assert.equal(await send("198.51.100.1", "203.0.113.3"), 200);
  assert.equal(await send("198.51.100.1", "203.0.113.4"), 429);
});
