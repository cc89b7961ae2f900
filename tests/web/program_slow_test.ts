import assert from "node:assert/strict";
import { inHome, Program, relayerEnv } from "../program.ts";
import { verifies } from "../requirements.ts";
import { browserTest, complaints } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { freePort } from "../free_port.ts";
import { poll } from "../within.ts";

/** First paint may transfer this much, in bytes. */
const FIRST_PAINT_BYTES = 150_000;

/** Whether listening on a port is refused for no lack of rights. */
function mayHavePort(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    return !(error instanceof Deno.errors.PermissionDenied);
  }
}

for (const hostname of ["127.0.0.1", "::1"]) {
  Deno.test(`a taken dashboard port is named, and the relayer runs on: ${hostname}`, async () => {
    verifies("15-23");
    const port = freePort();
    let listener: Deno.Listener;
    try {
      listener = Deno.listen({ hostname, port });
    } catch {
      return; // this machine has no such address
    }
    using _taken = listener;
    await inHome(async (home) => {
      const env = { ...relayerEnv(home), SVC_WEB_PORT: String(port) };
      await using program = new Program(["start"], env);
      const { port: relayerPort } = await program.event("listening");
      const { reason } = await program.event("dashboard off");
      assert.equal(reason, `SVC_WEB_PORT: localhost:${port} is in use by another program`);
      // It is degraded until its sidecar has started.
      const health = async () =>
        await (await fetch(`http://127.0.0.1:${relayerPort}/health`)).json();
      await poll(health, ({ status }) => status === "ok");
    });
  });
}

Deno.test({
  name: "a dashboard port that needs more rights is named, and the relayer runs on",
  // Whoever may have any port is refused none.
  ignore: mayHavePort(80),
  fn: () =>
    inHome(async (home) => {
      await using program = new Program(["start"], { ...relayerEnv(home), SVC_WEB_PORT: "80" });
      await program.event("listening");
      const { reason } = await program.event("dashboard off");
      assert.equal(
        reason,
        "SVC_WEB_PORT: listening on 80 needs more rights than this user has",
      );
    }),
});

Deno.test("port 0 switches the dashboard off", async () => {
  await inHome(async (home) => {
    await using program = new Program(["serve"], { ...relayerEnv(home), SVC_WEB_PORT: "0" });
    await program.event("listening");
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    assert.doesNotMatch(program.errors.join("\n"), /dashboard/);
  });
});

Deno.test("the first start says where the dashboard is", async () => {
  let address = "";
  await inHome(async (home) => {
    const port = freePort();
    await using program = new Program(["start"], {
      ...relayerEnv(home),
      SVC_WEB_PORT: String(port),
    });
    const { url } = await program.event("dashboard");
    assert.equal(url, `http://localhost:${port}`);
    const page = await fetch(`http://127.0.0.1:${port}/config.json`, {
      headers: { host: `localhost:${port}` },
    });
    assert.match((await page.json()).relayerUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
    program.kill("SIGTERM");
    assert.equal(await program.end(), 0);
    address = String(url);
    assert.match(await program.output, new RegExp(`Open ${address} in a browser`));
  });
});

/** Whether this machine has the loopback address of IPv6. */
function hasIpv6(): boolean {
  try {
    Deno.listen({ hostname: "::1", port: 0 }).close();
    return true;
  } catch {
    return false;
  }
}

browserTest("the page reaches a relayer that listens on IPv6's loopback", async (browser) => {
  if (!hasIpv6()) return;
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    const found = complaints(page);
    await signIn(page, web);
    assert.deepEqual(found, []);
  }, { SVC_HOST: "::1" });
});

Deno.test("a relayer that no page can reach is named", async () => {
  await inHome(async (home) => {
    await using program = new Program(["start"], {
      ...relayerEnv(home),
      SVC_WEB_PORT: String(freePort()),
      SVC_PUBLIC_URL: "http://[2001:db8::1]:8000",
    });
    const { reason } = await program.event("dashboard off");
    assert.equal(
      reason,
      "a page cannot reach http://[2001:db8::1]:8000: give it a name in SVC_PUBLIC_URL",
    );
  });
});

Deno.test("a page that the relayer would not answer is named", async () => {
  await inHome(async (home) => {
    const port = freePort();
    await using program = new Program(["start"], {
      ...relayerEnv(home),
      SVC_WEB_PORT: String(port),
      SVC_ALLOWED_ORIGINS: "https://app.example",
    });
    const { reason } = await program.event("dashboard off");
    assert.equal(
      reason,
      `SVC_ALLOWED_ORIGINS does not hold the page's origin, http://localhost:${port}`,
    );
  });
});

browserTest("the first paint is small, and asks nobody else", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    const hosts = new Set<string>();
    const sizes: Promise<number>[] = [];
    page.on("requestfinished", (request) => {
      hosts.add(new URL(request.url()).origin);
      sizes.push(request.sizes().then((size) => size.responseBodySize + size.responseHeadersSize));
    });
    await page.goto(web, { waitUntil: "networkidle" });
    await page.getByRole("button", { name: "Start" }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes < FIRST_PAINT_BYTES, `${bytes} bytes`);
    for (const host of hosts) assert.ok([web, relayer].includes(host), host);
  });
});
