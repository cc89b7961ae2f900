import assert from "node:assert/strict";
import { uniform } from "../../bench/statistics.ts";
import { fitLogistic } from "../../eval/logistic.ts";
import { calibrationError, reliability } from "../../eval/reliability.ts";

Deno.test("a logistic regression finds the weights that made the data", () => {
  const random = uniform(7);
  const observations = Array.from({ length: 20_000 }, () => {
    const features = [random() * 4 - 2, random(), 5];
    const p = 1 / (1 + Math.exp(-(0.5 + 2 * features[0]! - 3 * features[1]!)));
    return { features, isTrue: random() < p, weight: 1 };
  });
  const [constant, first, second, never] = fitLogistic(observations);
  const near = (a: number | undefined, b: number) =>
    assert.ok(Math.abs(a! - b) < 0.15, `${a} ${b}`);
  near(constant, 0.5);
  near(first, 2);
  near(second, -3);
  near(never, 0);
});

Deno.test("what is said in as many cases as it happens has no calibration error", () => {
  const said = (value: number, was: number) =>
    Array.from({ length: 10 }, (_, i) => ({ said: value, isTrue: i < was }));
  const close = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-9, `${a}`);
  close(calibrationError([...said(0.3, 3), ...said(1, 10), ...said(0, 0)]), 0);
  close(calibrationError(said(0.75, 5)), 0.25);
  close(calibrationError([...said(0.75, 5), ...said(0.2, 2)]), 0.125);
  assert.match(
    reliability(said(0.75, 5)).join("\n"),
    /0\.7 to 0\.8 {4}10 {2}0\.75 {2}0\.50 {2}\|#{20} {10}o$/m,
  );
});
