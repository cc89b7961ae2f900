/**
 * Sends prepared requests at a pace, in a process of its own: so its work is no other client's.
 * Arguments: port, file of {@linkcode packRequests}, milliseconds between two requests, number of
 * connections, requests at the beginning that are not counted. Prints a line when it starts, and
 * {@linkcode Written} as JSON when it is done.
 */
import { Connection } from "./connection.ts";
import { unpackRequests, type Written } from "./paced_writes.ts";
import { quantile } from "./statistics.ts";

const [port, file, interval, clients, warmUp] = Deno.args as [
  string,
  string,
  string,
  string,
  string,
];
const requests = unpackRequests(await Deno.readFile(file));
const connections = await Promise.all(
  Array.from({ length: Number(clients) }, () => Connection.open(Number(port))),
);
await Deno.stdout.write(new TextEncoder().encode("writing\n"));
const times: number[] = [];
let next = 0;
const start = performance.now();
await Promise.all(connections.map(async (connection) => {
  for (;;) {
    const index = next++;
    const request = requests[index];
    if (request === undefined) return;
    const early = start + index * Number(interval) - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const sent = performance.now();
    await connection.json(request, 202);
    if (index >= Number(warmUp)) times.push(performance.now() - sent);
  }
}));
const written: Written = {
  requests: times.length,
  seconds: (performance.now() - start - Number(warmUp) * Number(interval)) / 1000,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
};
for (const connection of connections) connection[Symbol.dispose]();
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(written)));
