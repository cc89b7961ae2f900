import assert from "node:assert/strict";
import { ago } from "../../src/client/text/relative_time.ts";

const NOW = Date.parse("2027-03-01T00:00:00Z");
const after = (seconds: number): string => ago(new Date(NOW + seconds * 1000).toISOString(), NOW);

Deno.test("a moment is told in the largest unit of which it has one", () => {
  const told: Record<number, string> = {
    [-3]: "just now",
    [-59]: "59 seconds ago",
    [-60]: "1 minute ago",
    [-3_599]: "59 minutes ago",
    [-86_399]: "23 hours ago",
    [-86_400]: "yesterday",
    [-31_535_999]: "11 months ago",
    [-31_536_000]: "last year",
    [86_399]: "in 23 hours",
  };
  for (const [seconds, text] of Object.entries(told)) assert.equal(after(Number(seconds)), text);
});
