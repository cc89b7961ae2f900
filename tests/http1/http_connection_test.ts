import assert from "node:assert/strict";
import { HttpConnection, type WireAnswer } from "../../src/http1/http_connection.ts";

/** Sends one request to a server that answers with these bytes, piece by piece. */
async function exchange(
  answer: readonly string[],
  check: (answer: WireAnswer, connection: HttpConnection) => Promise<void>,
  close = true,
): Promise<string> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const served = (async () => {
    const socket = await listener.accept();
    const bytes = new Uint8Array(4096);
    const count = await socket.read(bytes) ?? 0;
    for (const piece of answer) await socket.write(new TextEncoder().encode(piece));
    if (close) socket.closeWrite();
    // The client's end.
    while (await socket.read(new Uint8Array(64)) !== null);
    socket.close();
    return new TextDecoder().decode(bytes.subarray(0, count));
  })();
  const connection = await HttpConnection.open(`http://127.0.0.1:${listener.addr.port}`);
  try {
    const headers = new Headers({ "x-a": "é" });
    const body = new TextEncoder().encode("{}");
    await check(
      await connection.send({ method: "POST", target: "/a?b=%20", headers, body }),
      connection,
    );
  } finally {
    connection.close();
  }
  return await served;
}

async function textOf({ body }: WireAnswer): Promise<string> {
  let text = "";
  for (;;) {
    const piece = await body?.next();
    if (piece === undefined || piece.done) return text;
    text += new TextDecoder().decode(piece.value);
  }
}

const OK = "HTTP/1.1 200 OK\r\n";

Deno.test("bodies are read by their framing", async () => {
  const table: readonly (readonly [pieces: string[], text: string, isReusable: boolean])[] = [
    [[`${OK}content-length: 5\r\n\r\nhello`], "hello", true],
    [[`${OK}Content-Length: 5\r`, "\n\r", "\nhe", "llo"], "hello", true],
    [[`${OK}content-length: 0\r\n\r\n`], "", true],
    [[`${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`], "hello", true],
    [
      [
        `${OK}transfer-encoding: chunked\r\n\r\n1`,
        "0;x=y\r\n0123456789abcdef\r",
        "\n1\r\n!\r\n0\r\n\r\n",
      ],
      "0123456789abcdef!",
      true,
    ],
    [[`${OK}\r\n`, "to the", " end"], "to the end", false],
    [[`${OK}connection: close\r\ncontent-length: 2\r\n\r\nab`], "ab", false],
    [["HTTP/1.1 204 No Content\r\n\r\n"], "", true],
  ];
  for (const [pieces, text, isReusable] of table) {
    await exchange(pieces, async (answer, connection) => {
      assert.equal(await textOf(answer), text);
      assert.equal(connection.isReusable, isReusable, pieces[0]);
    });
  }
});

Deno.test("a body that came with its head is there at once", async () => {
  const chunked = `${OK}transfer-encoding: chunked\r\n\r\n`;
  const long = "x".repeat(40_000);
  const table: readonly (readonly [answer: string, whole: string | undefined])[] = [
    [`${OK}content-length: 5\r\n\r\nhello`, "hello"],
    [`${OK}content-length: 40000\r\n\r\n${long}`, long],
    [`${OK}content-length: 0\r\n\r\n`, undefined],
    [`${OK}\r\nto the end`, undefined],
    ["HTTP/1.1 204 No Content\r\n\r\n", undefined],
    [`${chunked}5\r\nhello\r\n2;x=y\r\n\r\n\r\n0\r\n\r\n`, "hello\r\n"],
    [`${chunked}9c40\r\n${long}\r\n0\r\n\r\n`, long],
    [`${chunked}0\r\n\r\n`, ""],
    [`${chunked}5\r\nhello\r\n`, undefined],
    [`${chunked}5\r\nhello\r\n0\r\n`, undefined],
    [`${chunked}5\r\nhello\n\n0\r\n\r\n`, undefined],
  ];
  for (const [text, whole] of table) {
    await exchange([text], ({ whole: found }) => {
      assert.equal(found && new TextDecoder().decode(found), whole, text.slice(0, 99));
      return Promise.resolve();
    });
  }
});

Deno.test("what came before the end is there, whatever the buffers' size", async () => {
  const chunked = `${OK}transfer-encoding: chunked\r\n\r\n`;
  // The first read has room for 1 KiB, the next one for 32.
  for (const total of [1023, 1024, 1025, 33_791, 33_792, 33_793]) {
    const head = `${OK}connection: close\r\ncontent-length: `;
    const text = "z".repeat(total - head.length - `${total}`.length - 4);
    const whole = `${head}${text.length}`.padEnd(total - text.length - 4) + `\r\n\r\n${text}`;
    assert.equal(whole.length, total);
    await exchange([whole], async (answer) => assert.equal(await textOf(answer), text));
    const piece = "z".repeat(total - chunked.length - 8);
    const start = `${chunked}${piece.length.toString(16).padStart(4, "0")}\r\n${piece}\r\n`;
    assert.equal(start.length, total);
    await exchange([start], async ({ status, body }) => {
      assert.equal(status, 200);
      let read = "";
      await assert.rejects(async () => {
        for (let next = await body!.next(); !next.done; next = await body!.next()) {
          read += new TextDecoder().decode(next.value);
        }
      });
      assert.equal(read, piece);
    });
  }
});

Deno.test("a connection is not used again behind bytes nobody asked for", async () => {
  const answer = `${OK}content-length: 2\r\n\r\nab`;
  await exchange([answer + answer], async (first, connection) => {
    assert.equal(await textOf(first), "ab");
    assert.equal(connection.isReusable, false);
  }, false);
});

Deno.test("answers of any size follow each other on one connection", async () => {
  const sizes = [0, 1, 900, 1024, 3000, 32_768, 65_536, 200_000, 5];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => {
      const size = Number(new URL(request.url).searchParams.get("size"));
      const text = "y".repeat(size);
      const isChunked = request.url.endsWith("chunked");
      return new Response(isChunked ? new Blob([text]).stream() : text);
    },
  );
  const connection = await HttpConnection.open(`http://127.0.0.1:${server.addr.port}`);
  for (const size of sizes) {
    for (const kind of ["", "&chunked"]) {
      const target = `/?size=${size}${kind}`;
      const answer = await connection.send({ method: "GET", target, headers: new Headers() });
      assert.equal(await textOf(answer), "y".repeat(size), target);
    }
  }
  connection.close();
});

Deno.test("a request is written with its own host and length", async () => {
  const request = await exchange(
    [`${OK}content-length: 0\r\nx-b: 1\r\nx-b: 2\r\n\r\n`],
    (answer) => {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("x-b"), "1, 2");
      return Promise.resolve();
    },
  );
  assert.match(request, /^POST \/a\?b=%20 HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nx-a: .\r\n/);
  assert.ok(request.endsWith("content-length: 2\r\n\r\n{}"));
});

Deno.test("an answer that ends early, or is no HTTP, is an error", async () => {
  const cut = [
    `${OK}content-length: 5\r\n\r\nhe`,
    `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1zz\r\na\r\n0\r\n\r\n`,
    `${OK}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`,
  ];
  for (const text of cut) {
    await exchange([text], (answer) => assert.rejects(textOf(answer)));
  }
  const heads = [
    `${OK}content-length: abc\r\n\r\nhello`,
    `${OK}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`,
    `${OK}content-length: -2\r\n\r\nhello`,
    `${OK}content-length:\r\n\r\nhello`,
    "",
    "HTTP/1.1 200",
    `${OK}no colon\r\n\r\n`,
    "SSH-2.0-x\r\n\r\n",
    `${OK}a: ${"x".repeat(70_000)}`,
  ];
  for (const text of heads) {
    await assert.rejects(exchange([text], () => Promise.resolve()), Error);
  }
});

Deno.test("a target that could hold lines of its own is not sent", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connection = await HttpConnection.open(`http://127.0.0.1:${listener.addr.port}`);
  for (const target of ["/a b", "/\u010d\u010aX-A:1", "/\r\n", "/é", "x", ""]) {
    const sent = connection.send({ method: "GET", target, headers: new Headers() });
    await assert.rejects(sent, TypeError, target);
  }
  const socket = await listener.accept();
  connection.close();
  assert.equal(await socket.read(new Uint8Array(1)), null);
  socket.close();
});

Deno.test("closing ends a read under way", async () => {
  await exchange([`${OK}content-length: 5\r\n\r\n`], async (answer, connection) => {
    const reading = textOf(answer);
    connection.close();
    await assert.rejects(reading);
  }, false);
});
