"""Trains aspects_weights.ts of plugins/use_lite and the weights of likeness.ts; README.md says how.

python3 eval/training/aspects.py FOLDER
"""

import base64
import json
import pathlib
import sys

import numpy

ROOT = pathlib.Path(__file__).parents[2]
MODULE = ROOT / "plugins/use_lite/engine/aspects_weights.ts"
#: What rows of observations begin with.
QUESTION, OLDER, NEWER, IS_TRUE, WEIGHT, FEATURES = range(6)
NAMES = "cosine gap sharedAsked sharedOther lost change otherSubject elsewhere likeness".split()
RANK = 24
EPOCHS = 6
BATCH = 512
#: Rates of the maps and of the other weights, and how strongly both are kept small.
RATES = {"maps": 6e-3, "weights": 1e-2}
KEEP_SMALL = {"maps": 1e-4, "weights": 1e-4}
SEED = 0


class Adam:
    """Kingma and Ba, 2015; the rate falls to nothing as a cosine does."""

    def __init__(self, values, steps):
        self.values, self.steps, self.step = values, steps, 0
        self.means = {name: numpy.zeros_like(value) for name, value in values.items()}
        self.squares = {name: numpy.zeros_like(value) for name, value in values.items()}

    def move(self, gradients):
        self.step += 1
        fall = 0.5 * (1 + numpy.cos(numpy.pi * self.step / self.steps))
        for name, gradient in gradients.items():
            kind = "maps" if name in ("statements", "questions") else "weights"
            gradient = gradient + KEEP_SMALL[kind] * self.values[name]
            self.means[name] = 0.9 * self.means[name] + 0.1 * gradient
            self.squares[name] = 0.999 * self.squares[name] + 0.001 * gradient**2
            mean = self.means[name] / (1 - 0.9**self.step)
            square = self.squares[name] / (1 - 0.999**self.step)
            change = fall * RATES[kind] * mean / (numpy.sqrt(square) + 1e-8)
            self.values[name] = (self.values[name] - change).astype(numpy.float32)


def train(vectors, rows):
    """Maps and weights of a logistic regression with the products of what is mapped."""
    random = numpy.random.default_rng(SEED)
    at = rows[:, :IS_TRUE].astype(int)
    likeness = (vectors[at[:, OLDER]] * vectors[at[:, NEWER]]).sum(1)
    features = numpy.c_[rows[:, FEATURES:], likeness]
    mean, deviation = features.mean(0), features.std(0)
    features = numpy.c_[(features - mean) / deviation, numpy.ones(len(rows))].astype(numpy.float32)
    weight = (rows[:, WEIGHT] / rows[:, WEIGHT].mean()).astype(numpy.float32)
    size = vectors.shape[1]
    values = {
        "statements": random.normal(0, 0.1, (size, RANK)).astype(numpy.float32),
        "questions": random.normal(0, 0.1, (size, RANK)).astype(numpy.float32),
        "linear": numpy.zeros(features.shape[1], numpy.float32),
        "products": numpy.array([1, 1, -0.5], numpy.float32),
    }
    batches = -(-len(rows) // BATCH)
    adam = Adam(values, EPOCHS * batches)
    for epoch in range(EPOCHS):
        loss = 0.0
        for batch in numpy.array_split(random.permutation(len(rows)), batches):
            question, older, newer = (vectors[at[batch, part]] for part in (0, 1, 2))
            a, b = older @ values["statements"], newer @ values["statements"]
            asked = question @ values["questions"]
            products = numpy.stack([(a * b).sum(1), (asked * b).sum(1), (asked * a).sum(1)], 1)
            odds = features[batch] @ values["linear"] + products @ values["products"]
            truth = rows[batch, IS_TRUE]
            loss += (weight[batch] * (numpy.logaddexp(0, odds) - truth * odds)).sum()
            slope = (1 / (1 + numpy.exp(-odds)) - truth) * weight[batch] / len(batch)
            slope = slope.astype(numpy.float32)
            same, by_newer, by_older = values["products"]
            for_a = slope[:, None] * (same * b + by_older * asked)
            for_b = slope[:, None] * (same * a + by_newer * asked)
            for_asked = slope[:, None] * (by_newer * b + by_older * a)
            adam.move({
                "statements": older.T @ for_a + newer.T @ for_b,
                "questions": question.T @ for_asked,
                "linear": slope @ features[batch],
                "products": slope @ products,
            })
        print(f"epoch {epoch}: {loss / len(rows):.4f}", flush=True)
    linear = values["linear"][:-1] / deviation
    constant = values["linear"][-1] - (linear * mean).sum()
    return values["statements"], values["questions"], constant, linear, values["products"]


def main():
    folder = pathlib.Path(sys.argv[1])
    vectors = numpy.fromfile(folder / "vectors.f32", "<f4").reshape(-1, 512)
    rows = numpy.array(json.loads((folder / "rows.json").read_text()))
    print(f"{len(rows)} observations, {len(vectors)} texts")
    statements, questions, constant, linear, products = train(vectors, rows)
    steps = [abs(part).max() / 127 for part in (statements, questions)]
    signed = [
        base64.b64encode((part.T / step).round().astype(numpy.int8).tobytes()).decode()
        for part, step in zip((statements, questions), steps)
    ]
    MODULE.write_text(
        "// Generated by eval/training/aspects.py.\n\n"
        f"/** Numbers that a vector is mapped to. */\nexport const RANK = {RANK};\n\n"
        f"/** What one step of a byte stands for. */\nexport const SCALE: number = {steps[0]:.6g};\n\n"
        f"/** Map of statements: {RANK} rows of signed bytes, base64. */\n"
        f'export const STATEMENTS: string =\n  "{signed[0]}";\n\n'
        f'/** Map of questions, likewise. */\nexport const QUESTIONS: string =\n  "{signed[1]}";\n'
    )
    # Both maps have one scale there.
    ratio = steps[1] / steps[0]
    products = products * [1, ratio, ratio]
    weights = zip(["constant", *NAMES, "same", "asked", "older"], [constant, *linear, *products])
    print("WEIGHTS of src/memory/recall/likeness.ts:")
    for name, value in weights:
        print(f"  {name}: {value:.3f},")


if __name__ == "__main__":
    main()
