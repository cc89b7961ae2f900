import { within } from "../src/deadline.ts";
import { type OwnerFile, ownerPath, readOwner } from "../src/client/owner_file.ts";
import { CommandError, EXIT, programOf } from "./io.ts";
import { openBrowser } from "./login/mod.ts";
import { openListener } from "./login/listener.ts";
import { gone, Refusal } from "./login/request_checks.ts";
import { isSameUser } from "./login/same_user.ts";
import { print, type Session } from "./session.ts";

/** How long the address works, in milliseconds. */
const OPEN_MS = 60_000;

/** A listener that tells the recovery words once, to who knows the state. */
async function openHandover({ words, webUrl }: OwnerFile) {
  const state = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const told = Promise.withResolvers<boolean>();
  let isUsed = false;
  const listener = await openListener({
    origin: new URL(webUrl).origin,
    routes: {
      "/owner": async ({ text, port }) => {
        if (stateIn(text) !== state) {
          throw new Refusal(403, "state_mismatch", "This request is of no open sign-in");
        }
        if (!await isSameUser(port, listener.port)) {
          throw new Refusal(403, "other_user", "Another user of this computer asked");
        }
        if (isUsed) throw gone();
        isUsed = true;
        return [Response.json({ words }), () => told.resolve(true)];
      },
    },
  });
  const url = `${new URL(webUrl).origin}/open#port=${listener.port}&state=${state}`;
  return { url, told: told.promise, close: listener.close };
}

function stateIn(text: string): unknown {
  try {
    return JSON.parse(text)?.state;
  } catch {
    return undefined;
  }
}

/** Opens the dashboard: signed in, where the account's recovery words are on this computer. */
export async function openDashboard(session: Session): Promise<void> {
  const { io, settings, path } = session;
  const open = (url: string) =>
    settings.browser && (io.openBrowser ?? ((at) => openBrowser(at, { env: io.env })))(url);
  const owner = path === undefined ? undefined : await readOwner(ownerPath(path));
  if (owner === undefined) {
    const isOpening = open(settings.webUrl);
    const text = `${isOpening ? "Opening" : "Open"} ${settings.webUrl} and sign in there.\n`;
    return print(session, { url: settings.webUrl, signed_in: false }, text);
  }
  // An environment, such as a project's, may name another dashboard: it gets no words.
  if (new URL(settings.webUrl).origin !== new URL(owner.webUrl).origin) {
    throw new CommandError(
      EXIT.usage,
      `The account of this computer is opened on ${owner.webUrl}, not on ${settings.webUrl}.`,
    );
  }
  const handover = await openHandover(owner);
  try {
    const isOpening = open(handover.url);
    io.writeError(
      `${
        isOpening ? "Your browser opens this address" : "Open this address on this computer"
      }:\n\n` +
        `  ${handover.url}\n\nIt works once, within a minute.\n`,
    );
    if (!await within(OPEN_MS, handover.told, () => false)) {
      const again = `${programOf(io)} open`;
      throw new CommandError(EXIT.error, `Nobody opened it within a minute. Try again: ${again}`);
    }
  } finally {
    handover.close();
  }
  print(session, { url: owner.webUrl, signed_in: true }, "The dashboard is open, signed in.\n");
}
