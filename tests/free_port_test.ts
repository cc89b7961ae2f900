import assert from "node:assert/strict";
import { chooseAddresses } from "../src/program/launcher/addresses.ts";
import { freePort } from "./free_port.ts";

Deno.test("no port is given out twice, and none that the program may choose", () => {
  const ports = Array.from({ length: 200 }, freePort);
  assert.equal(new Set(ports).size, ports.length);
  const settings = { sidecarUrl: "http://127.0.0.1:0", port: 0, webPort: 0 };
  const chosen = Array.from({ length: 50 }, () => Object.values(chooseAddresses(settings))).flat();
  const lowest = Math.min(...chosen.map((url) => Number(new URL(url).port)));
  assert.ok(Math.max(...ports) < lowest);
});
