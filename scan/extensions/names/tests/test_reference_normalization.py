"""Names in the form of ENSIP-15, compared with its author's @adraffy/ens-normalize.

His test vectors are in no package: where they have been downloaded, `python -m
scan.extensions.names.tests.test_reference_normalization tests.json` compares them.
"""

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scan.extensions.names import normalization
from scan.extensions.names.normalization import MAX_BYTES, Normalizer, NotNormalizable
from tests.support.solidity import NODE

NAMES = 4_000
REFERENCE = """
import {ens_normalize} from '@adraffy/ens-normalize';
import {readFileSync} from 'node:fs';
const norm = (name) => { try { return ens_normalize(name); } catch { return null; } };
console.log(JSON.stringify(JSON.parse(readFileSync(0)).map(norm)));
"""
# What names are drawn from: letters by script, marks, digits, emojis with their parts, and what
# imitates, joins or turns.
PIECES = [
    *(chr(code) for code in range(0x20, 0x7F)),
    *(chr(code) for code in (*range(0xA0, 0x180), 0x2018, 0x2019, 0x2116, 0x2122, 0x2460, 0xFB00)),
    *(chr(code) for code in range(0x370, 0x400)),
    *(chr(code) for code in range(0x400, 0x460)),
    *(chr(code) for code in range(0x5D0, 0x5EB)),
    *(chr(code) for code in range(0x620, 0x670)),
    *(chr(code) for code in range(0x905, 0x94E)),
    *(chr(code) for code in range(0xE01, 0xE4F)),
    *(chr(code) for code in range(0x3041, 0x3100)),
    *(chr(code) for code in range(0x4E00, 0x4E20)),
    *(chr(code) for code in range(0xAC00, 0xAC20)),
    *(chr(code) for code in range(0x1100, 0x1110)),
    *(chr(code) for code in range(0x300, 0x330)),
    *(chr(code) for code in range(0xFF10, 0xFF5B)),
    *"❤☠♂♀1️⃣#️⃣🏴‍☠️👨‍👩‍👧🇩🇪🧟‍♂️👩🏽‍🚀😂🫩",
    *"\u00ad\u200b\u200c\u200d\u200e\u202e\u2066\ufe0e\ufe0f\ufeff\u2024\u3002\uff0e\u2010\u2212",
    *("xn--", "ab--", "__", ".", ".eth", "\U000e0062", "\ue000", "\U0010ffff"),
]
SCRIPTS = (PIECES[65:91], PIECES[16:26], PIECES)
ENDS = ("", ".eth")


def drawn(count):
    draw = random.Random(15)
    return [
        "".join(draw.choices(draw.choice(SCRIPTS), k=draw.randint(1, 8))) + draw.choice(ENDS)
        for _ in range(count)
    ]


def ours(names):
    normalizer = Normalizer()
    try:
        return [_normalized(normalizer, name) for name in names]
    finally:
        if normalizer._process is not None:
            normalizer._process.kill()
            normalizer._process.wait()


def _normalized(normalizer, name):
    try:
        return normalizer.normalized(name)
    except NotNormalizable:
        return None


def theirs(names):
    node = shutil.which("node")
    assert node is not None
    command = [node, "--input-type=module", "--eval", REFERENCE]
    ran = subprocess.run(
        command, input=json.dumps(names).encode(), cwd=NODE, capture_output=True, check=True
    )
    return json.loads(ran.stdout)


@pytest.mark.long
def test_names_are_what_the_reference_makes_of_them(monkeypatch):
    monkeypatch.setattr(normalization, "ANSWER_S", 120.0)
    names = drawn(NAMES)
    compared = [*zip(names, ours(names), theirs(names), strict=True)]
    assert [case for case in compared if case[1] != case[2]] == []
    assert NAMES / 10 < sum(result is not None for _, result, _ in compared) < NAMES * 9 / 10


def compare_vectors(path):
    """Print how many vectors of the author's tests.json have his result here."""
    vectors = [v for v in json.loads(path.read_bytes()) if v["name"] not in ("", "version")]
    short = [v for v in vectors if len(v["name"].encode(errors="replace")) <= MAX_BYTES]
    wanted = [None if v.get("error") else v.get("norm", v["name"]) for v in short]
    results = ours([v["name"] for v in short])
    different = [v for v, want, got in zip(short, wanted, results, strict=True) if want != got]
    print(f"{len(short)} vectors, {len(vectors) - len(short)} too long, different: {different}")


if __name__ == "__main__":
    compare_vectors(Path(sys.argv[1]))
