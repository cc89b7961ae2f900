"""Trains adaptation_weights.json and query_map_weights.ts of plugins/use_lite; README.md says how.

The encoder is that of plugins/use_lite/engine/transformer.ts. A batch holds every text of some
stores, a query of each, and of some a rewording and what looks alike. A query has to find its text
among those of its own store and of the others (softmax over the batch, as Henderson et al., 2017,
"Efficient Natural Language Response Suggestion", section 4.3), and to be closer to it than a
threshold that is learned; a query that no text of its store answers has to be farther than that from
all of them. A rewording has to find its text among all, and among those that look like it. What is
learned is kept near the encoder that it begins with in three ways: a loss on how far vectors move, a
part only of what the weights changed by (Wortsman et al., 2022, "Robust fine-tuning of zero-shot
models"), and matrices of low rank. Then a map of query vectors is learned by the same task: a
question says something else than its answer.
"""

import base64
import json
import math
import pathlib
import random
import sys
import urllib.parse

import numpy
import torch
import torch.nn.functional as F

SEED = 1
RATE = 1e-4
SHARPNESS = 20.0
ITEMS = 90
"""Texts of a batch, before the last store is added whole."""
REWORDED = 40
"""Most rewordings of a batch."""
REWORDED_WEIGHT = 0.5
UNANSWERED_WEIGHT = 0.3
DROPOUT = 0.1
STAY = 0.75
PASSES = 6
"""The schedule is made for so many passes; the weights are the mean after two of them."""
MEAN_OF = (4, 5)
PART = 0.7
RANK = 64
EMBEDDING_RANK = 128
MAP_RANK = 32
MAP_STEPS = 1200
MAP_STORES = 24
MAP_RATE = 2e-3
MAP_STAY = 0.4
MAP_PART = 0.8
HELD = 0.1
"""Part of the stores that is not trained on, to see what is learned."""

FOLDED = "module_apply_default/Encoder_en/KonaTransformer/Encode/"
RAW = "module/Encoder_en/KonaTransformer/Encode/"
LAST = "module/Encoder_en/hidden_layers/tanh_layer_0/"
CONCAT = "/ConcatPartitions/concat"
DENSE = FOLDED + "Layer_0/TransformerLayer/dense/"
EMBEDDINGS = "module/Embeddings_en"
WAVES = FOLDED + "TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"
PLUGIN = pathlib.Path(__file__).parent / "../../plugins/use_lite/engine"


def read_weights(folder):
    manifest = json.loads((folder / "model.json").read_text())
    tensors = {}
    for group in manifest["weightsManifest"]:
        data = b"".join((folder / path).read_bytes() for path in group["paths"])
        at = 0
        for entry in group["weights"]:
            size = math.prod(entry["shape"])
            if entry["dtype"] == "float32":
                values = numpy.frombuffer(data, numpy.float32, size, at).reshape(entry["shape"])
                tensors[entry["name"]] = torch.tensor(values.copy()).squeeze()
            at += 4 * size
    return tensors


class Encoder(torch.nn.Module):
    """Token ids to unit vectors; parameters are named by the tensors of model.json."""

    def __init__(self, tensors):
        super().__init__()
        self.names = {name: f"p{i}" for i, name in enumerate(tensors)}
        for name, values in tensors.items():
            self.register_parameter(self.names[name], torch.nn.Parameter(values.clone()))
        angles = torch.arange(128).float()[:, None] * tensors[WAVES].flatten()[None]
        self.register_buffer("waves", torch.cat([angles.sin(), angles.cos()], 1))

    def of(self, name):
        return getattr(self, self.names[name])

    def linear(self, x, matrix, bias):
        return x @ self.of(matrix) + self.of(bias)

    def norm(self, x, prefix):
        path = prefix + "layer_prepostprocess/layer_norm/layer_norm_"
        scale, bias = self.of(f"{path}scale{CONCAT}"), self.of(f"{path}bias{CONCAT}")
        return F.layer_norm(x, (x.shape[-1],), scale, bias, 1e-6)

    def drop(self, x):
        return F.dropout(x, DROPOUT, self.training)

    def forward(self, ids, mask):
        rows, length = ids.shape
        # Padding is computed in attention alone.
        real = mask.flatten().nonzero().squeeze(1)
        spread = lambda y: y.new_zeros(rows * length, y.shape[-1]).index_copy(0, real, y).view(
            rows, length, -1
        )
        x = self.drop(2 * self.of(EMBEDDINGS)[ids.flatten()[real]] + self.waves[real % length])
        away = (~mask)[:, None, None, :] * -1e9
        for index in (0, 1):
            path = f"Layer_{index}/TransformerLayer/"
            part = lambda name: (
                f"{RAW}{path}MultiheadAttention/{name}/kernel/part_0",
                f"{FOLDED}{path}MultiheadAttention/{name}/bias{CONCAT}",
            )
            width = x.shape[-1]
            heads = spread(self.linear(self.norm(x, FOLDED + path), *part("qkv_transform_single")))
            q, k, v = (
                y.reshape(rows, length, 4, width // 4).transpose(1, 2) for y in heads.split(width, 2)
            )
            seen = (q @ k.transpose(2, 3) * (width // 4) ** -0.5 + away).softmax(-1) @ v
            seen = seen.transpose(1, 2).reshape(rows * length, width)[real]
            if index == 0:
                x = self.linear(x, f"{DENSE}kernel{CONCAT}", f"{DENSE}bias{CONCAT}")
            x = x + self.drop(self.linear(seen, *part("output_transform_single")))
            net = lambda name: (
                f"{FOLDED}TransformerStack/{path}FFN/{name}/Tensordot/Reshape_1",
                f"{FOLDED}{path}FFN/{name}/bias{CONCAT}",
            )
            inner = torch.relu(self.linear(self.norm(x, f"{FOLDED}{path}FFN/"), *net("conv1")))
            x = x + self.drop(self.linear(inner, *net("conv2")))
        mean = spread(x).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(torch.tanh(self.linear(mean, LAST + "weights", LAST + "bias")), dim=1)


def padded(texts):
    ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = True
    return ids, mask


@torch.no_grad()
def vectors(encoder, texts):
    """The vectors of texts, in their order."""
    encoder.eval()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    found = torch.zeros(len(texts), 512)
    for at in range(0, len(order), 256):
        some = order[at : at + 256]
        found[some] = encoder(*padded([texts[i] for i in some]))
    encoder.train()
    return found


def embedded(encoder, stores):
    """Of each store the vectors of its texts and queries, and the position of each query's text."""
    queries = [[query for item in store["items"] for query in item["queries"]] for store in stores]
    texts = [[item["text"] for item in store["items"]] for store in stores]
    flat = lambda lists: [text for texts in lists for text in texts]
    split = lambda lists: vectors(encoder, flat(lists)).split([len(texts) for texts in lists])
    right = [
        torch.tensor([i for i, item in enumerate(store["items"]) for _ in item["queries"]]).long()
        for store in stores
    ]
    return list(zip(split(texts), split(queries), right))


def found(sets, mapped=lambda queries: queries):
    """Percent of queries whose text is the first, and among the first five and ten, of its store."""
    ranks = []
    for texts, queries, right in sets:
        if len(right) == 0:
            continue
        scores = mapped(queries) @ texts.T
        ranks += (scores > scores.gather(1, right[:, None])).sum(1).tolist()
    return [round(100 * sum(rank < most for rank in ranks) / len(ranks), 1) for most in (1, 5, 10)]


def apart(encoder, stores):
    """Percent of all rewordings and look-alikes, each with each, of which the former is closer."""
    closeness = {}
    for name in ("reworded", "unlike"):
        pairs = [
            (item["text"], other)
            for store in stores
            for item in store["items"]
            if item["unlike"]
            for other in item[name]
        ]
        texts, others = (vectors(encoder, list(part)) for part in zip(*pairs))
        closeness[name] = (texts * others).sum(1)
    closer = closeness["reworded"][:, None] > closeness["unlike"][None]
    return round(100 * closer.float().mean().item(), 1)


def batches(stores):
    """Stores of one pass, some at a time."""
    random.shuffle(stores)
    batch, items = [], 0
    for store in stores:
        batch.append(store)
        items += len(store["items"])
        if items >= ITEMS:
            yield batch
            batch, items = [], 0


class Batch:
    """What is embedded of some stores: texts, queries, rewordings, what looks alike, and queries that
    no text answers; with the positions of the texts that the queries and rewordings are of."""

    def __init__(self, stores):
        items = [item for store in stores for item in store["items"]]
        have = lambda name: [i for i, item in enumerate(items) if item[name]]
        one = lambda name, places: [random.choice(items[i][name]) for i in places]
        self.asked = have("queries")
        reworded = have("reworded")
        self.reworded = random.sample(reworded, min(REWORDED, len(reworded)))
        unlike = [i for i in self.reworded if items[i]["unlike"]]
        ends = numpy.cumsum([len(store["items"]) for store in stores])
        self.unanswered = [
            slice(end - len(store["items"]), end)
            for store, end in zip(stores, ends)
            if store["unanswered"]
        ]
        self.parts = [
            [item["text"] for item in items],
            one("queries", self.asked),
            one("reworded", self.reworded),
            one("unlike", unlike),
            [random.choice(store["unanswered"]) for store in stores if store["unanswered"]],
        ]

    def loss(self, encoder, original, threshold):
        """How far the encoder is from what is asked of it."""
        flat = [text for part in self.parts for text in part]
        embedded = encoder(*padded(flat)).split([len(part) for part in self.parts])
        texts, queries, reworded, unlike, unanswered = embedded
        with torch.no_grad():
            before = original(*padded(self.parts[0]))
        loss = STAY * (1 - (texts * before).sum(1)).mean()
        if self.asked:
            scores, asked = SHARPNESS * queries @ texts.T, torch.tensor(self.asked)
            none = SHARPNESS * threshold.expand(len(queries), 1)
            loss = loss + F.cross_entropy(torch.cat([scores, none], 1), asked)
            loss = loss + 0.5 * F.cross_entropy(scores.T[asked], torch.arange(len(queries)))
        if self.reworded:
            scores = 1.5 * SHARPNESS * reworded @ torch.cat([texts, unlike]).T
            right = torch.tensor(self.reworded)
            loss = loss + REWORDED_WEIGHT * F.cross_entropy(scores, right)
        for query, store in zip(unanswered, self.unanswered):
            scores = SHARPNESS * torch.cat([threshold.view(1), query @ texts[store].T])
            wrong = F.cross_entropy(scores[None], torch.tensor([0]))
            loss = loss + UNANSWERED_WEIGHT * wrong / len(unanswered)
        return loss


def train(tensors, stores, report, most):
    """What the weights changed by; `most` is after how many steps it stops at the latest."""
    encoder, original = Encoder(tensors), Encoder(tensors).eval()
    threshold = torch.nn.Parameter(torch.tensor(0.5))
    parameters = [*encoder.parameters(), threshold]
    optimizer = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.98))
    steps = min(most, PASSES * len(list(batches(stores))))
    step = 0
    total = {name: torch.zeros_like(values) for name, values in tensors.items()}
    for number in range(1, max(MEAN_OF) + 1):
        before = step
        for batch in batches(stores):
            if step == steps:
                break
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, 10 * (step + 1) / steps) * max(0.02, 1 - step / steps)
            loss = Batch(batch).loss(encoder, original, threshold)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            step += 1
        if step > before:
            report(f"pass {number}, threshold {threshold.item():.2f}", encoder)
        if number in MEAN_OF:
            for name in total:
                total[name] += (encoder.of(name).detach() - tensors[name]) / len(MEAN_OF)
    return {name: PART * values for name, values in total.items()}


def factors(change, rank):
    """The nearest product of that rank, A diag(s) B, with signed bytes in A (transposed) and B."""
    u, s, v = torch.linalg.svd(change, full_matrices=False)
    left, right = u[:, :rank].T * s[:rank, None].sqrt(), v[:rank] * s[:rank, None].sqrt()
    a, b = (part.abs().amax(1, keepdim=True) / 127 for part in (left, right))
    signed = lambda part, unit: (part / unit).round().to(torch.int8)
    return signed(left, a), signed(right, b), (a * b).flatten()


def write(changes):
    """Writes the module; answers the changes as it has them."""
    kept, matrices, data, scales = {}, [], b"", b""
    for name, change in changes.items():
        if change.dim() != 2 or min(change.shape) < 128:
            continue
        rank = EMBEDDING_RANK if name == EMBEDDINGS else RANK
        left, right, scale = factors(change, rank)
        kept[name] = left.T.float() * scale @ right.float()
        inputs, outputs = change.shape
        matrices.append({"name": name, "inputs": inputs, "outputs": outputs, "rank": rank})
        data += left.numpy().tobytes() + right.numpy().tobytes()
        scales += scale.numpy().astype("<f4").tobytes()
    about = (
        "Generated by eval/training/fine_tune.py. Matrices of the model in the order of their "
        "numbers; scales: one float a rank, little-endian, base64; factors: signed bytes, base64, "
        "for each matrix `rank` columns of A, then `rank` rows of B."
    )
    weights = {"about": about, "matrices": matrices}
    weights["scales"] = base64.b64encode(scales).decode()
    weights["factors"] = base64.b64encode(data).decode()
    (PLUGIN / "adaptation_weights.json").write_text(json.dumps(weights, indent=2) + "\n")
    return kept


def train_map(sets):
    """Rows of A and B of the map x + B'Ax."""
    down = torch.nn.Parameter(torch.randn(MAP_RANK, 512) * 0.05)
    up = torch.nn.Parameter(torch.zeros(MAP_RANK, 512))
    optimizer = torch.optim.Adam([down, up])
    for step in range(MAP_STEPS):
        for group in optimizer.param_groups:
            group["lr"] = MAP_RATE * (1 - step / MAP_STEPS)
        batch = random.sample(sets, MAP_STORES)
        starts = numpy.cumsum([0] + [len(facts) for facts, _, _ in batch])
        facts = torch.cat([facts for facts, _, _ in batch])
        queries = torch.cat([queries for _, queries, _ in batch])
        right = torch.cat([right + int(start) for (_, _, right), start in zip(batch, starts)])
        moved = F.normalize(queries + queries @ down.T @ up, dim=1)
        loss = F.cross_entropy(SHARPNESS * moved @ facts.T, right)
        loss = loss + MAP_STAY * ((moved - queries) ** 2).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return down.detach(), up.detach()


def write_map(down, up):
    """Writes the module; answers the map as it has it."""
    units = [part.abs().max() / 127 for part in (down, up)]
    signed = [(part / unit).round().to(torch.int8) for part, unit in zip((down, up), units)]
    scale = float(units[0] * units[1]) * MAP_PART
    text = [base64.b64encode(part.numpy().tobytes()).decode() for part in signed]
    (PLUGIN / "query_map_weights.ts").write_text(
        "// Generated by eval/training/fine_tune.py.\n\n"
        f"/** Rank of the map. */\nexport const RANK = {MAP_RANK};\n\n"
        "/** What one step of the product of two bytes stands for. */\n"
        f"export const SCALE: number = {scale:.6g};\n\n"
        f"/** First factor: {MAP_RANK} rows of signed bytes, base64. */\n"
        f'export const DOWN: string =\n  "{text[0]}";\n\n'
        f'/** Second factor, likewise. */\nexport const UP: string =\n  "{text[1]}";\n'
    )
    a, b = (part.float() for part in signed)
    return lambda queries: F.normalize(queries + scale * (queries @ a.T @ b), dim=1)


def main():
    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.set_num_threads(2)
    read = json.loads(pathlib.Path(sys.argv[1]).read_text())
    most = int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize
    tensors = read_weights(pathlib.Path(urllib.parse.urlparse(read["weights"]).path))
    unseen, stores = {}, []
    for kind, of_kind in read["training"].items():
        random.shuffle(of_kind)
        held = int(HELD * len(of_kind))
        unseen[kind] = of_kind[:held]
        stores += of_kind[held:]

    sets = {**{f"unseen {kind}": some for kind, some in unseen.items()}, **read["tuning"]}

    def report(what, encoder, *mapped):
        print(what)
        for name, some in sets.items():
            queries = any(item["queries"] for store in some for item in store["items"])
            figures = found(embedded(encoder, some), *mapped) if queries else apart(encoder, some)
            print(f"  {name}: {figures}", flush=True)

    report("before", Encoder(tensors))
    kept = write(train(tensors, stores, report, most))
    encoder = Encoder({name: values + kept.get(name, 0) for name, values in tensors.items()})
    report("as written", encoder)
    mapped = write_map(*train_map([some for some in embedded(encoder, stores) if len(some[2])]))
    report("with the map", encoder, mapped)


if __name__ == "__main__":
    main()
