import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { ed25519Wallet, secp256k1Wallet, type Wallet } from "../http/wallet.ts";
import { verifies } from "../requirements.ts";
import { browserTest, complaints, screenshot } from "./chromium.ts";
import { inHome, Program, relayerEnv } from "../program.ts";
import { signIn, withDashboard } from "./dashboard.ts";
import { freePort } from "../free_port.ts";

async function accountId(page: Page): Promise<string | null> {
  await page.getByRole("link", { name: "Account" }).click();
  return await page.locator(".facts code").nth(1).getAttribute("title");
}

browserTest("the recovery key opens the account again, in another browser too", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    const account = await accountId(page);
    await page.getByRole("button", { name: "Show the recovery key" }).click();
    const key = await page.getByLabel("Recovery key").innerText();
    assert.match(key, /^([a-z]+ ){11}[a-z]+$/);
    await page.getByRole("button", { name: "I saved it" }).click();

    const other = await (await browser.newContext()).newPage();
    await other.goto(web);
    await other.getByLabel("Recovery key").fill("suiprivkey1nonsense");
    await other.getByRole("button", { name: "Use this key" }).click();
    await other.getByText("This is not a recovery key").waitFor();
    await other.getByLabel("Recovery key").fill(key);
    await other.getByRole("button", { name: "Use this key" }).click();
    await other.getByRole("heading", { name: "Memories" }).waitFor();
    assert.equal(await accountId(other), account);
  });
});

browserTest("an account of the terminal opens in a browser by its words", async (browser) => {
  await withDashboard(async ({ web, relayer, env: started }) => {
    const env = { ...started, SVC_PUBLIC_URL: relayer };
    await using create = new Program(["account", "create", "--save", "--json"], env);
    const made = JSON.parse(await create.output);
    await using remember = new Program(["remember", "I keep canaries"], env);
    assert.match(await remember.output, /Remembered in default/);
    const page = await browser.newPage();
    await page.goto(web);
    await page.getByLabel("Recovery key").fill(made.recovery_words);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("I keep canaries").first().waitFor();
    assert.equal(await accountId(page), made.account_id);
    // It shows them again, and a reload keeps them.
    await page.reload();
    await page.getByRole("button", { name: "Show the recovery key" }).click();
    assert.equal(await page.getByLabel("Recovery key").innerText(), made.recovery_words);
  });
});

browserTest("an account of the browser is recovered in a terminal", async (browser) => {
  await withDashboard(async ({ web, relayer, env: started }) => {
    const env = { ...started, SVC_PUBLIC_URL: relayer };
    const page = await browser.newPage();
    await signIn(page, web);
    const account = await accountId(page);
    await page.getByRole("button", { name: "Show the recovery key" }).click();
    const words = await page.getByLabel("Recovery key").innerText();
    await using recover = new Program(["account", "recover", "--save", "--json"], env);
    await recover.write(`${words}\n`);
    assert.equal(JSON.parse(await recover.output).account_id, account);
    await using list = new Program(["list"], env);
    assert.match(await list.output, /There are no memories in "default"/);
  });
});

browserTest(
  "signing out leaves nothing in the browser, and warns of a lost key",
  async (browser) => {
    await withDashboard(async ({ web }) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await signIn(page, web);
      const other = await context.newPage();
      await other.goto(web);
      await other.getByText("Nothing here yet").waitFor();
      await page.getByRole("link", { name: "Account" }).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("You have not saved the recovery key").waitFor();
      await screenshot(page, "sign_out");
      await page.getByRole("button", { name: "Delete the key and sign out" }).click();
      await page.getByRole("heading", { name: "Your memory, under your key" }).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Start" }).waitFor();
      await other.getByRole("button", { name: "Start" }).waitFor();
    });
  },
);

browserTest("signing out does not wait for a relayer that does not answer", async (browser) => {
  await withDashboard(async ({ web, relayer }) => {
    const page = await browser.newPage();
    await page.clock.install();
    await signIn(page, web);
    await page.route(`${relayer}/accounts/**`, () => {});
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    const asked = page.waitForRequest((request) => request.url().includes("/accounts/challenge"));
    await page.getByRole("button", { name: "Delete the key and sign out" }).click();
    await asked;
    await page.clock.fastForward(10_000);
    // The request itself would be given up after 30 seconds.
    await page.getByRole("heading", { name: "Your memory, under your key" })
      .waitFor({ timeout: 20_000 });
    await page.reload();
    await page.getByRole("button", { name: "Start" }).waitFor();
  });
});

browserTest("an account is switched off and on again", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("heading", { name: "The account is off" }).waitFor();
    await page.getByRole("link", { name: "Memories" }).click();
    await page.getByText("Your account is switched off").waitFor();
    await page.getByRole("link", { name: "Switch it on again" }).click();
    await page.getByRole("button", { name: "Switch it on" }).click();
    await page.getByRole("button", { name: "Switch off" }).waitFor();
  });
});

browserTest("other tabs follow when an account is switched off and on", async (browser) => {
  await withDashboard(async ({ web }) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await signIn(page, web);
    const other = await context.newPage();
    await other.goto(web);
    await other.getByText("Nothing here yet").waitFor();
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await other.getByText("Your account is switched off").waitFor();
    await page.getByRole("button", { name: "Switch it on" }).click();
    await other.getByText("Nothing here yet").waitFor();
  });
});

browserTest("who switched an account on is not asked to switch it off", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("button", { name: "Switch it on" }).click();
    await page.getByText("stored, without a limit").waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
  });
});

browserTest("a key can be removed while the account is off", async (browser) => {
  await withDashboard(async ({ web }) => {
    const page = await browser.newPage();
    await signIn(page, web);
    await page.getByRole("link", { name: "Account" }).click();
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).click();
    await page.getByRole("heading", { name: "The account is off" }).waitFor();
    await page.getByRole("link", { name: "Apps" }).click();
    await page.getByRole("button", { name: "Show the keys" }).click();
    const card = page.locator(".key", { hasText: "dashboard" });
    await card.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await card.waitFor({ state: "detached" });
  });
});

/** Removes every key of a wallet's account, as another browser of the owner does. */
async function removeKeys(web: string, relayer: string, wallet: Wallet): Promise<void> {
  async function post(path: string, body: unknown) {
    const response = await fetch(relayer + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin: web },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  }
  async function prove(action: string, path: string, params: object) {
    const { address } = wallet;
    const { challenge } = await post("/accounts/challenge", { address, action, params });
    const signature = wallet.signPersonalMessage(challenge);
    return await post(path, { challenge, signature, params });
  }
  const { account_id, keys } = await prove("open", "/accounts/open", {});
  for (const { public_key } of keys) {
    await prove("remove_key", `/accounts/${account_id}/keys/remove`, { public_key });
  }
}

/** Announces a wallet program to the page, as an extension's script does (Wallet Standard). */
function announceWallet(address: string): void {
  const account = {
    address,
    publicKey: new Uint8Array(32),
    chains: ["sui:localnet"],
    features: ["sui:signPersonalMessage"],
  };
  const wallet = {
    version: "1.0.0",
    name: "Test wallet",
    icon: "data:image/svg+xml;base64,",
    chains: ["sui:localnet"],
    accounts: [account],
    features: {
      "standard:connect": {
        version: "1.0.0",
        connect: () => Promise.resolve({ accounts: [account] }),
      },
      "sui:signPersonalMessage": {
        version: "1.0.0",
        signPersonalMessage: async ({ message }: { message: Uint8Array }) => ({
          bytes: "",
          signature: await Reflect.get(globalThis, "signText")(new TextDecoder().decode(message)),
        }),
      },
    },
  };
  const register = ({ register }: { register: (wallet: unknown) => void }) => register(wallet);
  addEventListener("wallet-standard:app-ready", (event) => {
    register((event as CustomEvent<Parameters<typeof register>[0]>).detail);
  });
  dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
}

for (
  const [name, makeWallet] of [["Ed25519", ed25519Wallet], ["secp256k1", secp256k1Wallet]] as const
) {
  browserTest(`somebody signs in with a wallet program: ${name}`, async (browser) => {
    verifies("9.2-8", "9.2-20");
    await withDashboard(async ({ web, relayer }) => {
      const wallet = makeWallet();
      const page = await browser.newPage();
      const found = complaints(page);
      const signed: string[] = [];
      await page.exposeFunction("signText", (text: string) => {
        signed.push(/^action: (.*)$/m.exec(text)?.[1] ?? "");
        return wallet.signPersonalMessage(text);
      });
      await page.addInitScript(announceWallet, wallet.address);
      await page.goto(web);
      await page.getByRole("button", { name: "Test wallet" }).click();
      await page.getByText("Nothing here yet").waitFor();
      assert.deepEqual(signed, ["open", "add_key"], "one signature to sign in, one for the page");
      await page.reload();
      await page.getByText("Nothing here yet").waitFor();
      assert.equal(signed.length, 2, "a reload asks for none");
      await page.getByRole("link", { name: "Account" }).click();
      await page.getByText("Test wallet").waitFor();
      assert.deepEqual(found, []);
      if (name !== "Ed25519") return;

      await page.goto(web);
      await page.getByText("Nothing here yet").waitFor();
      await removeKeys(web, relayer, wallet);
      await page.getByText("Your wallet has to confirm").first().waitFor();
      assert.equal(signed.length, 2, "nobody is asked without a click");
      await page.getByRole("button", { name: "Try again" }).first().click();
      await page.getByText("Nothing here yet").waitFor();
      await page.getByRole("alert").first().waitFor({ state: "hidden" });
      assert.deepEqual(signed.slice(2), ["add_key"], "one signature heals it");
      assert.deepEqual(found.filter((line) => !/status of 401/.test(line)), []);
    });
  });
}

/** What a day's pause does: the page's key is not used any more. */
const END_PAGE_KEY = `(async () => {
  const open = indexedDB.open("svc", 1);
  await new Promise((resolve) => open.onsuccess = resolve);
  const change = open.result.transaction("kept", "readwrite");
  change.objectStore("kept").delete("page-key");
  await new Promise((resolve) => change.oncomplete = resolve);
  open.result.close();
})()`;

browserTest("a relayer that lost its accounts gets the owner's again", async (browser) => {
  await inHome(async (home) => {
    const web = freePort();
    const env = {
      ...relayerEnv(home),
      SVC_PORT: String(freePort()),
      SVC_WEB_PORT: String(web),
    };
    const page = await browser.newPage();
    {
      await using program = new Program(["start"], env);
      await program.event("dashboard");
      await signIn(page, `http://localhost:${web}`);
      await page.getByLabel("Remember something").fill("I am allergic to peanuts");
      await page.getByRole("button", { name: "Remember" }).click();
      await page.locator(".memory", { hasText: "peanuts" }).getByText("Delete").waitFor();
    }
    await page.getByRole("alert").first().waitFor();
    await Deno.remove(`${home}/.svc`, { recursive: true });
    {
      await using program = new Program(["start"], env);
      await program.event("dashboard");
      await page.getByText("Nothing here yet").waitFor();
      await page.getByRole("alert").first().waitFor({ state: "hidden" });
    }
    // The same for somebody who comes back another day, when the page needs a new key anyway.
    await Deno.remove(`${home}/.svc`, { recursive: true });
    await page.evaluate(END_PAGE_KEY);
    await using program = new Program(["start"], env);
    await program.event("dashboard");
    await page.reload();
    await page.getByText("Nothing here yet").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  });
});
