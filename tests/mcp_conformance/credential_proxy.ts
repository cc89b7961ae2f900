const CRLF = "\r\n\r\n";
const latin1 = new TextDecoder("latin1");

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (unit) => unit.charCodeAt(0));
}

/** Adds credentials to the one request of a connection; Host and Origin stay, but for the port. */
function complete(head: string, from: number, to: number, headers: readonly string[]): string {
  const [first = "", ...lines] = head.split("\r\n");
  const kept = lines.filter((line) => !/^connection:/i.test(line)).map((line) =>
    /^(host|origin):/i.test(line) ? line.replace(`:${from}`, `:${to}`) : line
  );
  return [first, ...kept, ...headers, "connection: close"].join("\r\n");
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += await to.write(bytes.subarray(done));
}

async function passOne(client: Deno.Conn, from: number, to: number, headers: readonly string[]) {
  using _client = client;
  let text = "";
  const piece = new Uint8Array(65_536);
  while (!text.includes(CRLF)) {
    const count = await client.read(piece);
    if (count === null) return;
    text += latin1.decode(piece.subarray(0, count));
  }
  const at = text.indexOf(CRLF);
  using server = await Deno.connect({ hostname: "127.0.0.1", port: to });
  await writeAll(server, bytesOf(complete(text.slice(0, at), from, to, headers) + text.slice(at)));
  const pipe = async (source: Deno.Conn, target: Deno.Conn) => {
    const buffer = new Uint8Array(65_536);
    for (let count = await source.read(buffer); count !== null; count = await source.read(buffer)) {
      await writeAll(target, buffer.subarray(0, count));
    }
  };
  // Whichever side leaves, the connection is over.
  await Promise.race([pipe(client, server), pipe(server, client)]);
}

/**
 * A listener that gives every request credentials, byte by byte otherwise the same: the suite can
 * send none, and would not see what it checks if somebody rewrote its requests.
 */
export function credentialProxy(
  to: number,
  headers: Readonly<Record<string, string>>,
): Deno.TcpListener {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const from = listener.addr.port;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  void (async () => {
    for await (const client of listener) {
      passOne(client, from, to, lines).catch(() => {});
    }
  })();
  return listener;
}
