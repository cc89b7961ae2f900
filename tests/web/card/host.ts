// A host of MCP Apps in a browser, by the official bridge; the test bundles it. What it cannot do
// itself the test does: `callTool` reaches the server.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

// deno-lint-ignore no-explicit-any
type Json = any;

// Types of browsers are not those of the tests around it.
const browser: Json = globalThis;

/** Shows a page in a frame of its own, as hosts do, and tells it of a call. */
async function showCard(
  html: string,
  tool: Json,
  given: Json,
  result: Json,
  capabilities: Json,
): Promise<void> {
  const frame = browser.document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  browser.document.body.replaceChildren(frame);
  const bridge = new AppBridge(null, { name: "host", version: "1" }, capabilities, {
    hostContext: { theme: "light", toolInfo: { tool } },
  });
  bridge.oncalltool = (params) => browser.callTool(params);
  bridge.onupdatemodelcontext = (params: Json) => {
    browser.told(params.content[0].text);
    return Promise.resolve({});
  };
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height}px`;
  };
  const ready = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  const window = frame.contentWindow!;
  await bridge.connect(new PostMessageTransport(window, window));
  frame.srcdoc = html;
  await ready;
  bridge.sendToolInput({ arguments: given });
  bridge.sendToolResult(result);
}

Object.assign(globalThis, { showCard });
