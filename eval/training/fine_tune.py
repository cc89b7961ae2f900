"""Trains adaptation_weights.json and query_map_weights.ts of plugins/use_lite; README.md says how.

The encoder is that of plugins/use_lite/engine/transformer.ts. A batch holds every fact of some stores and
one query of each: a query has to find its fact among those of its own store and of the others
(softmax over the batch, as Henderson et al., 2017, "Efficient Natural Language Response Suggestion",
section 4.3). What is learned is kept near the original encoder in three ways: a loss on how far
vectors move, a part only of what the weights changed by (Wortsman et al., 2022, "Robust
fine-tuning of zero-shot models"), and matrices of low rank. Then a map of query vectors is learned
by the same task: a question says something else than its answer.
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
STORES = 8
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
        x = self.drop(2 * self.of(EMBEDDINGS)[ids] + self.waves[: ids.shape[1]][None])
        away = (~mask)[:, None, None, :] * -1e9
        for index in (0, 1):
            path = f"Layer_{index}/TransformerLayer/"
            part = lambda name: (
                f"{RAW}{path}MultiheadAttention/{name}/kernel/part_0",
                f"{FOLDED}{path}MultiheadAttention/{name}/bias{CONCAT}",
            )
            width = x.shape[-1]
            heads = self.linear(self.norm(x, FOLDED + path), *part("qkv_transform_single"))
            q, k, v = (
                y.reshape(*y.shape[:2], 4, width // 4).transpose(1, 2) for y in heads.split(width, 2)
            )
            seen = (q @ k.transpose(2, 3) * (width // 4) ** -0.5 + away).softmax(-1) @ v
            seen = seen.transpose(1, 2).reshape(*x.shape[:2], width)
            if index == 0:
                x = self.linear(x, f"{DENSE}kernel{CONCAT}", f"{DENSE}bias{CONCAT}")
            x = x + self.drop(self.linear(seen, *part("output_transform_single")))
            net = lambda name: (
                f"{FOLDED}TransformerStack/{path}FFN/{name}/Tensordot/Reshape_1",
                f"{FOLDED}{path}FFN/{name}/bias{CONCAT}",
            )
            inner = torch.relu(self.linear(self.norm(x, f"{FOLDED}{path}FFN/"), *net("conv1")))
            x = x + self.drop(self.linear(inner, *net("conv2")))
        weight = mask[:, :, None].float()
        mean = (x * weight).sum(1) / weight.sum(1)
        return F.normalize(torch.tanh(self.linear(mean, LAST + "weights", LAST + "bias")), dim=1)


def padded(texts):
    ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text)
        mask[row, : len(text)] = True
    return ids, mask


@torch.no_grad()
def embedded(encoder, stores):
    """Of each store the vectors of its facts and queries, and the position of each query's fact."""
    encoder.eval()
    sets = []
    for store in stores:
        queries = [query for item in store for query in item["queries"]]
        right = [i for i, item in enumerate(store) for _ in item["queries"]]
        facts = encoder(*padded([item["fact"] for item in store]))
        sets.append((facts, encoder(*padded(queries)), torch.tensor(right)))
    encoder.train()
    return sets


def found(sets, mapped=lambda queries: queries):
    """Percent of queries whose fact is the first, and among the first five, of its store."""
    ranks = []
    for facts, queries, right in sets:
        scores = mapped(queries) @ facts.T
        ranks += (scores > scores.gather(1, right[:, None])).sum(1).tolist()
    return [round(100 * sum(rank < most for rank in ranks) / len(ranks), 1) for most in (1, 5)]


def train(tensors, stores, report):
    """What the weights changed by."""
    encoder, original = Encoder(tensors), Encoder(tensors).eval()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=RATE, betas=(0.9, 0.98))
    steps = PASSES * (len(stores) // STORES)
    warm = steps // 10
    step = 0
    total = {name: torch.zeros_like(values) for name, values in tensors.items()}
    for number in range(1, max(MEAN_OF) + 1):
        random.shuffle(stores)
        for at in range(0, len(stores) - STORES + 1, STORES):
            items = [item for store in stores[at : at + STORES] for item in store]
            facts = padded([item["fact"] for item in items])
            queries = padded([random.choice(item["queries"]) for item in items])
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(1, (step + 1) / warm) * max(0.02, 1 - step / steps)
            f, q = encoder(*facts), encoder(*queries)
            with torch.no_grad():
                f0, q0 = original(*facts), original(*queries)
            scores, right = SHARPNESS * q @ f.T, torch.arange(len(items))
            loss = F.cross_entropy(scores, right) + 0.5 * F.cross_entropy(scores.T, right)
            moved = (1 - (f * f0).sum(1)).mean() + (1 - (q * q0).sum(1)).mean()
            loss = loss + STAY * moved
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimizer.step()
            step += 1
        report(f"pass {number}", encoder)
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
    tensors = read_weights(pathlib.Path(urllib.parse.urlparse(read["weights"]).path))
    stores = read["training"]
    random.shuffle(stores)
    held = int(HELD * len(stores))

    def report(what, encoder, *mapped):
        unseen = found(embedded(encoder, stores[:held]), *mapped)
        development = found(embedded(encoder, read["development"]), *mapped)
        print(f"{what}: unseen stores {unseen}, development {development}", flush=True)

    report("before", Encoder(tensors))
    kept = write(train(tensors, stores[held:], report))
    encoder = Encoder({name: values + kept.get(name, 0) for name, values in tensors.items()})
    report("as written", encoder)
    mapped = write_map(*train_map(embedded(encoder, stores[held:])))
    report("with the map", encoder, mapped)


if __name__ == "__main__":
    main()
