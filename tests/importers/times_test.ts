import { deepStrictEqual, strictEqual } from "node:assert/strict";
import fc from "fast-check";
import { timeOf } from "../../src/importers/times.ts";
import { parseTime } from "../../src/wire/request_members.ts";

Deno.test("times of other products become RFC 3339 in UTC", () => {
  const rows: readonly (readonly [unknown, string | undefined])[] = [
    ["2024-07-26T10:29:36.630547-07:00", "2024-07-26T17:29:36.630Z"],
    ["2024-07-26 10:29:36+0200", "2024-07-26T08:29:36.000Z"],
    ["2024-07-26T10:29", "2024-07-26T10:29:00.000Z"],
    ["2024-07-26t10:29:00z", "2024-07-26T10:29:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    [1712345678.5, "2024-04-05T19:34:38.500Z"],
    [1712345678500, "2024-04-05T19:34:38.500Z"],
    ["2023-02-29", undefined],
    ["2024-07-26T25:00:00Z", undefined],
    ["yesterday", undefined],
    ["", undefined],
    [`2024-07-26T10:29:36.${"0".repeat(100_000)}x`, undefined],
    [NaN, undefined],
    [Infinity, undefined],
    [-1e300, undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [value, time] of rows) {
    deepStrictEqual(timeOf(value), time, String(value).slice(0, 40));
  }
});

Deno.test("every time that is given is one that a relayer takes", () => {
  const dates = fc.date({ min: new Date(0), max: new Date("9999-01-01"), noInvalidDate: true });
  fc.assert(fc.property(dates, (date) => {
    strictEqual(parseTime(timeOf(date.toISOString()) ?? ""), date.getTime());
  }));
  fc.assert(fc.property(fc.double(), (number) => {
    const time = timeOf(number);
    strictEqual(time !== undefined && Number.isNaN(parseTime(time)), false);
  }));
});
