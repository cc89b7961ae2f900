import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import fc from "fast-check";
import { framedSocket } from "../../../plugins/postgres/framed_socket.ts";
import { turns } from "../../within.ts";

/** A message of a kind that says so many bytes. */
function message(kind: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(1 + 4 + length, kind);
  bytes.writeUInt32BE(4 + length, 1);
  return bytes;
}

/** What a socket passes on of what is written in pieces: kind and length of each message. */
async function passedOn(pieces: readonly Uint8Array[]): Promise<string[]> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const socket = framedSocket();
  const messages: string[] = [];
  socket.on("data", (data: Buffer) => {
    for (let at = 0; at < data.length;) {
      const length = data.readUInt32BE(at + 1);
      const said = data.subarray(at + 5, at + 1 + length);
      assert.equal(said.length, length - 4, "a message in two pieces");
      assert.ok(said.every((byte) => byte === data[at]));
      messages.push(`${data[at]} ${said.length}`);
      at += 1 + length;
    }
  });
  socket.connect({ port: listener.addr.port, host: "127.0.0.1" });
  using connection = await listener.accept();
  const over = once(socket, "close");
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) at += await connection.write(piece.subarray(at));
    // Most pieces are read by themselves then.
    await turns(20);
  }
  await connection.closeWrite();
  await over;
  return messages;
}

const KIND = fc.integer({ min: 1, max: 255 });
const LENGTH = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 300_000 }));

Deno.test("messages come whole, however they arrive", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ kind: KIND, length: LENGTH }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
      async (messages, cuts) => {
        const all = Buffer.concat(messages.map(({ kind, length }) => message(kind, length)));
        const at = [0, ...cuts.map((cut) => Math.floor(cut * all.length)).sort((a, b) => a - b)];
        const pieces = at.map((from, i) => all.subarray(from, at[i + 1]));
        const sent = messages.map(({ kind, length }) => `${kind} ${length}`);
        assert.deepEqual(await passedOn(pieces), sent);
      },
    ),
    { numRuns: 40 },
  );
});

Deno.test("a message may be larger than the buffer, and small ones come behind it", async () => {
  const sizes = [3, 5_000_000, 0, 70_000, 2_000_000, 1];
  const all = Buffer.concat(sizes.map((size, i) => message(i + 1, size)));
  assert.deepEqual(await passedOn([all]), sizes.map((size, i) => `${i + 1} ${size}`));
});

Deno.test("what ends in the middle of a message is not passed on", async () => {
  assert.deepEqual(await passedOn([message(7, 10).subarray(0, 14)]), []);
  assert.deepEqual(await passedOn([message(7, 10), message(8, 3).subarray(0, 4)]), ["7 10"]);
});
