"""Near-duplicates of 1,000,000 texts: the exact join, rensa's and datasketch's MinHash, the floor.

    python benchmarks/near_duplicates.py [--texts 1000000] [--without datasketch]

All in one run, each in a process of its own (so that its peak memory is its own), on the same
texts: sentences of made-up words of a natural frequency, a fifth of them copies with a word or two
changed. What is right is known from the exact join at a small size, where every pair is compared;
at full size the peers are judged against the exact join. The floor is the time to read the texts
and tell their words apart, which any method has to spend.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

THRESHOLD = 0.8


def made_texts(count: int, seed: int = 0) -> list[str]:
    """Sentences; a fifth are near-copies of an earlier one."""
    rng = random.Random(seed)
    vocabulary = [f"{rng.choice('bcdfgklmnprst')}{rng.choice('aeiou')}{i:x}" for i in range(60_000)]
    weights = [1 / (i + 10) for i in range(len(vocabulary))]
    words = rng.choices(vocabulary, weights, k=count * 16 + 64)
    texts: list[str] = []
    at = 0
    for number in range(count):
        if number and rng.random() < 0.2:
            copy = texts[rng.randrange(number)].split()
            for _ in range(rng.randrange(3)):
                copy[rng.randrange(len(copy))] = rng.choice(vocabulary)
            texts.append(" ".join(copy))
            continue
        size = rng.randrange(8, 24)
        at = (at + size) % (count * 16)
        texts.append(" ".join(words[at : at + size]).capitalize() + ".")
    return texts


def ours(texts: list[str]) -> set[tuple[int, int]]:
    from clinqa.dataset.near_duplicates import near_duplicates

    return {(a, b) for a, b, _ in near_duplicates(texts, THRESHOLD).pairs()}


def rensa(texts: list[str]) -> set[tuple[int, int]]:
    import rensa as peer

    index = peer.RMinHashLSH(threshold=THRESHOLD, num_perm=128, num_bands=16)
    sketches = []
    for number, text in enumerate(texts):
        sketch = peer.RMinHash(num_perm=128, seed=42)
        sketch.update(_words(text))
        index.insert(number, sketch)
        sketches.append(sketch)
    found = set()
    for number, sketch in enumerate(sketches):
        for other in index.query(sketch):
            if other < number and sketch.jaccard(sketches[other]) >= THRESHOLD:
                found.add((other, number))
    return found


def datasketch(texts: list[str]) -> set[tuple[int, int]]:
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    found = set()
    for number, text in enumerate(texts):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([word.encode() for word in set(_words(text))])
        found.update((other, number) for other in index.query(sketch))
        index.insert(number, sketch)
    return found


def floor(texts: list[str]) -> set[tuple[int, int]]:
    for text in texts:
        set(_words(text))
    return set()


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


CONTENDERS = {"clinqa": ours, "rensa": rensa, "datasketch": datasketch, "floor": floor}


def one(name: str, count: int, into: Path) -> None:
    texts = made_texts(count)
    if name == "clinqa":
        ours(texts[:1000])  # compile
    started, cpu = time.perf_counter(), time.process_time()
    found = CONTENDERS[name](texts)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    into.write_text("\n".join(f"{a} {b}" for a, b in sorted(found)))
    print(json.dumps({"name": name, "seconds": seconds, "cpu": cpu, "gb": memory}))


def exact_is_exact(count: int = 3000) -> None:
    """Against every pair compared, at a size where that can be done."""
    from clinqa.dataset.near_duplicates import normalised

    texts = made_texts(count, seed=5)
    sets = [frozenset(normalised(text).split()) for text in texts]
    right = {
        (a, b)
        for a, b in combinations(range(count), 2)
        if len(sets[a] & sets[b]) * 10 >= 8 * len(sets[a] | sets[b]) > 0
    }
    found = ours(texts)
    print(
        f"{count} texts, all pairs compared: {len(right)} pairs; clinqa finds {len(found)}, "
        f"missing {len(right - found)}, invented {len(found - right)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--without", nargs="*", default=[])
    parser.add_argument("--one", nargs=2)
    asked = parser.parse_args()
    if asked.one:
        one(asked.one[0], asked.texts, Path(asked.one[1]))
        return
    exact_is_exact()
    pairs: dict[str, set[str]] = {}
    rows = []
    for name in CONTENDERS:
        if name in asked.without:
            continue
        into = Path(f"/tmp/near_duplicates_{name}.txt")
        words = [sys.executable, __file__, "--texts", str(asked.texts), "--one", name, str(into)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: not run ({done.stderr.strip().splitlines()[-1:]})")
            continue
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        pairs[name] = set(into.read_text().split("\n")) - {""}
        into.unlink()
    right = pairs["clinqa"]
    print(f"\n{asked.texts:,} texts, {len(right):,} pairs at {THRESHOLD}")
    for row in rows:
        found = pairs[row["name"]]
        recall = len(found & right) / len(right) if right else 1.0
        precision = len(found & right) / len(found) if found else 0.0
        print(
            f"{row['name']:<11} {row['seconds']:8.1f} s {row['cpu']:8.1f} CPU-s {row['gb']:6.2f} GB"
            f"   recall {recall:.4f} precision {precision:.4f}"
        )


if __name__ == "__main__":
    main()
