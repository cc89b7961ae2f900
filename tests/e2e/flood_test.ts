import assert from "node:assert/strict";
import { connect } from "node:net";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";
import { poll } from "../within.ts";

/** What clients of a flood send. */
const FLOODS = {
  nothing: "",
  "half a head": "GET /health HTTP/1.1\r\nhost: localhost\r\n",
  "half a body": "POST /accounts HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{",
} as const;
const FLOODERS = 1000;
/** Pause before a connection that ended is made anew, milliseconds. */
const AGAIN_MS = 100;
/** Requests of somebody else meanwhile. */
const PROBES = 10;

/** Keeps so many connections from 127.0.0.1 open, each made anew when it ends; from a thread. */
function flood(port: number, text: string): Disposable {
  const program = `
    import { connect } from "node:net";
    function open() {
      const socket = connect({ host: "127.0.0.1", port: ${port} });
      socket.on("connect", () => socket.write(${JSON.stringify(text)}));
      socket.on("error", () => {});
      socket.on("close", () => setTimeout(open, ${AGAIN_MS}));
    }
    for (let i = 0; i < ${FLOODERS}; i++) open();
  `;
  const url = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  return {
    [Symbol.dispose]() {
      worker.terminate();
      URL.revokeObjectURL(url);
    },
  };
}

/** Milliseconds until an answer with status 200 came over a new connection of another address. */
function health(port: number): Promise<number> {
  const started = performance.now();
  const { promise, resolve } = Promise.withResolvers<number>();
  const socket = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.2" });
  socket.on("connect", () => socket.write("GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"));
  socket.on("data", (bytes) => {
    const isAnswer = String(bytes).startsWith("HTTP/1.1 200");
    resolve(isAnswer ? performance.now() - started : Infinity);
    socket.destroy();
  });
  socket.on("error", () => resolve(Infinity));
  socket.on("close", () => resolve(Infinity));
  return promise;
}

for (const [what, text] of Object.entries(FLOODS)) {
  Deno.test({
    name: `a thousand clients that send ${what} do not keep others out`,
    // Only there every address of 127.0.0.0/8 is this machine's.
    ignore: Deno.build.os !== "linux",
    async fn() {
      verifies("3-67");
      await inHome(async (home) => {
        const env = { ...relayerEnv(home), SVC_LOG_LEVEL: "info" };
        await using program = new Program(["start"], env, 300);
        const port = Number((await program.event("listening")).port);
        await poll(() => health(port), (ms) => ms < Infinity);
        {
          using _flood = flood(port, text);
          // How soon is no matter here: that each is answered is.
          for (let probe = 0; probe < PROBES; probe++) {
            assert.ok(await health(port) < Infinity, `probe ${probe}`);
            await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
          }
        }
        // Nobody had to start it again.
        assert.ok(!program.errors.some((line) => line.includes("child process ended")));
        for (let i = 0; i < 20; i++) assert.ok(await health(port) < Infinity);
      });
    },
  });
}
