import assert from "node:assert/strict";
import { nameServersIn, publicRanges } from "../../src/program/launcher/public_ranges.ts";
import { relayerPermissions } from "../../src/program/launcher/permissions.ts";
import { readSettings } from "../../src/program/settings/mod.ts";
import { inRanges, isPublicAddress } from "../../src/wire/ip_addresses.ts";

Deno.test("the ranges hold every public address of IPv4 and no other", () => {
  const ranges = publicRanges();
  assert.ok(ranges.length < 150, `${ranges.length}`);
  const edges = ranges.flatMap((range) => {
    const [base = "", bits = ""] = range.split("/");
    const first = base.split(".").reduce((all, byte) => all * 256 + Number(byte), 0);
    const last = first + 2 ** (32 - Number(bits)) - 1;
    return [first - 1, first, last, last + 1];
  });
  const random = crypto.getRandomValues(new Uint32Array(2000));
  for (const value of [...edges, ...random]) {
    if (value < 0 || value >= 2 ** 32) continue;
    const address = [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
    if (inRanges(address, ranges)) assert.ok(isPublicAddress(address), address);
    else assert.equal(isPublicAddress(address), false, address);
  }
});

Deno.test("servers of names are read as systems list them", () => {
  const text = "# nameserver 9.9.9.9\nnameserver 10.0.0.53\nsearch a.example\nNAMESERVER\t::1 \n";
  assert.deepEqual(nameServersIn(text), ["10.0.0.53", "::1"]);
});

Deno.test("only who reads documents of apps may reach the internet", () => {
  const netOf = (env: Record<string, string>) => {
    const { settings } = readSettings({ HOME: "/home/ada", ...env }, { cwd: "/" });
    return relayerPermissions(settings, [], []).net;
  };
  assert.deepEqual(netOf({}).filter((entry) => entry.includes("/")), []);
  const net = netOf({ SVC_CLIENT_METADATA: "true" });
  assert.ok(net.includes("8.0.0.0/7:443"));
  assert.ok(net.some((entry) => entry.endsWith(":53")));
});
