import type { Finding } from "./kinds.ts";
import { isPlaceholder } from "./plausible.ts";

const SCHEME_END = "://";

/** RFC 3986, 3.2.1: `user:password@host`. No part holds a slash, so that nothing is read twice. */
const CREDENTIALS = /:\/\/([^\s:@/?#"'<>]{0,128}):([^\s@/"'<>]{1,256})@[^\s@/]/y;

/** Passwords of addresses that explain the form. */
const SAMPLE = /^(?:pass(?:word|wd)?|pwd?|secret|user(?:name)?|token|hunter2)$/i;

/**
 * Addresses that whoever knows them may write to, as their vendors document them: Slack, Discord,
 * Teams, Zapier, Make, IFTTT and Google Chat.
 */
const WEBHOOK = new RegExp(
  `://(?:${
    [
      "hooks\\.slack\\.com/(?:services|workflows|triggers)/[\\w/]{20,}",
      "(?:canary\\.|ptb\\.)?discord(?:app)?\\.com/api/webhooks/\\d{15,24}/[\\w-]{20,}",
      "[\\w-]{1,63}\\.webhook\\.office\\.com/webhookb2/[\\w@/-]{40,}",
      "hooks\\.zapier\\.com/hooks/catch/\\d{4,12}/\\w{5,}",
      "hook\\.(?:[a-z]{2}\\d\\.)?make\\.com/\\w{20,}",
      "maker\\.ifttt\\.com/trigger/[\\w-]{1,64}/(?:json/)?with/key/[\\w-]{16,}",
      "chat\\.googleapis\\.com/v1/spaces/[\\w-]{1,64}/messages\\?key=[\\w&=%-]{30,}",
    ].join("|")
  })`,
  "y",
);

function findingAt(text: string, at: number): Finding | undefined {
  WEBHOOK.lastIndex = at;
  const webhook = WEBHOOK.exec(text)?.[0];
  if (webhook !== undefined) {
    if (isPlaceholder(webhook)) return undefined;
    return { kind: "webhook_url", start: at + SCHEME_END.length, end: at + webhook.length };
  }
  CREDENTIALS.lastIndex = at;
  const [, user = "", password] = CREDENTIALS.exec(text) ?? [];
  if (password === undefined || SAMPLE.test(password) || isPlaceholder(password)) return undefined;
  const start = at + SCHEME_END.length + user.length + 1;
  return { kind: "connection_string", start, end: start + password.length };
}

/** Each password in an address, and each address that is a secret itself. */
export function findAddresses(text: string): Finding[] {
  const found: Finding[] = [];
  for (let at = text.indexOf(SCHEME_END); at >= 0;) {
    const finding = findingAt(text, at);
    if (finding !== undefined) found.push(finding);
    at = text.indexOf(SCHEME_END, finding?.end ?? at + SCHEME_END.length);
  }
  return found;
}
