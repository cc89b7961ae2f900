import assert from "node:assert/strict";
import { packRequests, unpackRequests } from "../../bench/paced_writes.ts";

Deno.test("requests for the other process come out as they went in", () => {
  const requests = [new Uint8Array([1, 2, 3]), new Uint8Array(), new Uint8Array(70_000).fill(7)];
  assert.deepEqual(unpackRequests(packRequests(requests)).map((one) => [...one]), [
    ...requests.map((one) => [...one]),
  ]);
  assert.deepEqual(unpackRequests(packRequests([])), []);
});
