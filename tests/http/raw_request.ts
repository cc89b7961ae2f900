import { type Answer, read } from "../relayer_fixture.ts";

/** Sends bytes to a port as they are and reads one HTTP/1.1 answer until the server closes. */
export async function rawRequest(port: number, head: string, body = ""): Promise<Answer> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await new Blob([head, body]).stream().pipeTo(connection.writable, { preventClose: true });
  const text = await new Response(connection.readable).text();
  const split = text.indexOf("\r\n\r\n");
  const [status = "", ...lines] = text.slice(0, split).split("\r\n");
  const headers = new Headers(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  const content = text.slice(split + 4);
  return await read(
    new Response(content === "" ? null : content, {
      status: Number(status.split(" ")[1]),
      headers,
    }),
  );
}

/** Head of a request that asks the server to close the connection afterwards. */
export function headOf(
  method: string,
  target: string,
  headers: Iterable<readonly [string, string]> = [],
  host = "127.0.0.1",
): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n${lines}\r\n`;
}
