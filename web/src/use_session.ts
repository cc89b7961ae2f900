import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Session } from "./session.ts";

/** The session of the page. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session; what uses it is shown anew when it changes. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error("No session");
  const [, setTurn] = useState(0);
  useEffect(() => session.subscribe(() => setTurn((turn) => turn + 1)), [
    session,
  ]);
  return session;
}
