import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { browserTest } from "./chromium.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { verifies } from "../requirements.ts";

/** A page of a stranger, at addresses that are other origins than the dashboard's. */
async function withStranger(
  html: string,
  test: (origins: readonly string[]) => Promise<void>,
): Promise<void> {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(html, { headers: { "content-type": "text/html" } }),
  );
  const { port } = server.addr;
  await test([`http://127.0.0.1:${port}`, `http://localhost:${port}`]);
}

/** What becomes of a request a page sends: what it can read, or that it can read nothing. */
async function outcome(page: Page, url: string, init: RequestInit): Promise<string> {
  return await page.evaluate(async ([url, init]) => {
    try {
      const response = await fetch(url as string, init as RequestInit);
      return response.type === "opaque" ? "opaque" : `${response.status} ${await response.text()}`;
    } catch (error) {
      return (error as Error).name;
    }
  }, [url, init] as const);
}

const json = { "content-type": "application/json" };
const CHALLENGE = JSON.stringify({ address: "0x" + "1".repeat(64), action: "open", params: {} });

browserTest(
  "a page of another origin neither drives the owner routes nor reads",
  async (browser) => {
    verifies("9.2-11");
    await withDashboard(async ({ web, relayer }) => {
      await withStranger("<h1>hello</h1>", async (origins) => {
        for (const origin of origins) {
          const page = await browser.newPage();
          const statuses: number[] = [];
          page.on("response", (response) => {
            if (response.url().startsWith(`${relayer}/accounts`)) statuses.push(response.status());
          });
          await page.goto(origin);
          for (const path of ["/accounts/challenge", "/accounts", "/accounts/open"]) {
            const asked = { method: "POST", headers: json, body: CHALLENGE };
            assert.equal(await outcome(page, relayer + path, asked), "TypeError");
            // Without a preflight: a simple request goes out, is refused, and tells nothing.
            const simple = { method: "POST", mode: "no-cors" as const, body: CHALLENGE };
            assert.equal(await outcome(page, relayer + path, simple), "opaque");
          }
          for (const path of ["/config", "/health", "/api/account"]) {
            assert.equal(await outcome(page, relayer + path, {}), "TypeError");
          }
          for (const path of ["/config.json", "/app.js", "/"]) {
            assert.equal(await outcome(page, web + path, {}), "TypeError");
          }
          assert.ok(statuses.length > 0);
          const refusals = statuses.filter((status) => status !== 204);
          assert.ok(refusals.every((status) => status === 403 || status === 415), `${refusals}`);
          await page.close();
        }
      });
    });
  },
);

browserTest("a form of another origin makes no account", async (browser) => {
  verifies("9.2-11");
  await withDashboard(async ({ relayer }) => {
    const form = `<form method="post" enctype="text/plain" action="${relayer}/accounts/open">
      <input name='{"challenge":"' value='","signature":"","params":{}}'><button>go</button></form>`;
    await withStranger(form, async ([origin = ""]) => {
      const page = await browser.newPage();
      await page.goto(origin);
      const answer = page.waitForResponse(`${relayer}/accounts/open`);
      await page.getByRole("button").click();
      assert.ok([403, 415].includes((await answer).status()));
    });
  });
});

browserTest("the dashboard shows nothing inside of another page", async (browser) => {
  verifies("15-32");
  await withDashboard(async ({ web }) => {
    const frames = `<iframe src="${web}/connect/mcp"></iframe><iframe src="${web}/"></iframe>`;
    await withStranger(frames, async ([origin = ""]) => {
      const page = await browser.newPage();
      const refused: string[] = [];
      page.on("console", (message) => refused.push(message.text()));
      await page.goto(origin, { waitUntil: "load" });
      for (const frame of page.frames().slice(1)) {
        assert.equal(await frame.locator("#app").count(), 0);
      }
      const framings = refused.filter((text) => /frame-ancestors/.test(text));
      assert.equal(framings.length, 2, refused.join("\n"));
    });
  });
});

browserTest("a proof that is replayed is refused", async (browser) => {
  verifies("9.2-2", "9.2-10");
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    const bodies: string[] = [];
    page.on("request", (request) => {
      if (/\/accounts\/0x\w+\/keys$/.test(request.url())) {
        bodies.push(`${request.url()} ${request.postData()}`);
      }
    });
    await signIn(page, web);
    const [url = "", body = ""] = bodies[0]?.split(/ (.*)/s) ?? [];
    const post = (content: string) =>
      outcome(page, url, { method: "POST", headers: json, body: content });
    assert.match(await post(body), /^401 .*owner_proof_invalid/, "replayed");
  });
});

/** Another text of the same form: one character in the middle of it is different. */
function altered(text: string): string {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
}

interface Proof {
  readonly challenge: string;
  readonly signature: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a thief on the way changes in a proof that the page has just made. */
const ALTERATIONS: Readonly<Record<string, (proof: Proof) => Partial<Proof>>> = {
  "signature": ({ signature }) => ({ signature: altered(signature) }),
  "parameters": ({ params }) => ({ params: { ...params, permissions: ["read", "write"] } }),
  "challenge": ({ challenge }) => ({ challenge: altered(challenge) }),
};

browserTest("a proof that is altered on its way is refused", async (browser) => {
  verifies("9.2-3", "9.2-10");
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.getByRole("link", { name: "Apps" }).click();
    await page.locator(".key").waitFor();
    await page.getByLabel("Name of the app").fill("Thief");
    await page.getByLabel(/Only read/).check();
    for (const [name, alter] of Object.entries(ALTERATIONS)) {
      await page.route(/\/accounts\/0x\w+\/keys$/, async (route) => {
        const proof: Proof = route.request().postDataJSON();
        const changed = { ...proof, ...alter(proof) };
        assert.notDeepEqual(changed, proof);
        await route.continue({ postData: JSON.stringify(changed) });
      }, { times: 1 });
      const answer = page.waitForResponse(/\/accounts\/0x\w+\/keys$/);
      await page.getByRole("button", { name: "Make a key" }).click();
      const response = await answer;
      assert.equal(response.status(), 401, name);
      assert.equal((await response.json()).code, "owner_proof_invalid", name);
      await page.getByRole("alert").getByText("signature was not accepted").waitFor();
    }
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("link", { name: "Apps" }).click();
    await page.locator(".key").waitFor();
    assert.deepEqual(await page.locator(".key h3").allInnerTexts(), ["dashboard"]);
  });
});

browserTest(
  "the page itself may reach its relayer and this machine's listeners only",
  async (browser) => {
    verifies("15-32");
    await withDashboard(async ({ web, relayer }) => {
      const page = await browser.newPage();
      await page.goto(web);
      assert.match(await outcome(page, `${relayer}/version`, {}), /^200 /);
      const blocked: string[] = [];
      page.on("console", (message) => {
        if (/Content Security Policy/.test(message.text())) blocked.push(message.text());
      });
      for (const url of ["http://localhost:9/", "https://example.com/", "http://[::1]:9/"]) {
        assert.equal(await outcome(page, url, {}), "TypeError");
      }
      assert.ok(blocked.length >= 3, blocked.join("\n"));
      const inline = await page.evaluate(`new Promise((resolve) => {
      globalThis.ran = false;
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      setTimeout(() => resolve(globalThis.ran), 0);
    })`);
      assert.equal(inline, false);
    });
  },
);
