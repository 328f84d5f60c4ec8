"""Names in the form of ENSIP-15, compared with its author's @adraffy/ens-normalize."""

import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from scan.extensions.names.normalization import Normalizer, NotNormalizable
from tests.support.solidity import NODE

NAMES = 4_000
REFERENCE = Path(__file__).with_name("reference.mjs").read_text()
# What names are drawn from: letters by script, marks, digits, emojis with their parts, and what
# imitates, joins or turns.
CODES = """
    20-7e a0-17f 2018-2019 2116 2122 2460 fb00 370-3ff 400-45f 5d0-5ea 620-66f 905-94d e01-e4e
    3041-30ff 4e00-4e1f ac00-ac1f 1100-110f 300-32f ff10-ff5a
""".split()
PIECES = [
    *(
        chr(code)
        for first, _, last in (codes.partition("-") for codes in CODES)
        for code in range(int(first, 16), int(last or first, 16) + 1)
    ),
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
def test_names_are_what_the_reference_makes_of_them():
    names = drawn(NAMES)
    compared = [*zip(names, ours(names), theirs(names), strict=True)]
    assert [case for case in compared if case[1] != case[2]] == []
    assert NAMES / 10 < sum(result is not None for _, result, _ in compared) < NAMES * 9 / 10
