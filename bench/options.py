"""The options of a run, from BENCH_* variables; a malformed one stops the start."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from scan.errors import SettingError
from scan.settings import ROOT

CONNECTIONS = 8
TRACERS = ("none", "callTracer")
MOST_BLOCK_TRANSACTIONS = 150


@dataclass(frozen=True)
class Options:
    transactions: int
    hot_share: float
    seconds: int
    rounds: int
    ingest_blocks: int
    head_blocks: int
    head_pace: int
    traces: str
    only: re.Pattern[str]
    folder: Path

    def wants(self, name: str) -> bool:
        return self.only.search(name) is not None

    @staticmethod
    def from_environment() -> "Options":
        return Options(
            transactions=_integer("BENCH_TRANSACTIONS", 1_000_000, 15_000),
            hot_share=_integer("BENCH_HOT_PERCENT", 5, 0) / 100,
            seconds=_integer("BENCH_SECONDS", 1, 1),
            rounds=_integer("BENCH_ROUNDS", 3, 1),
            ingest_blocks=_integer("BENCH_INGEST_BLOCKS", 2_000, 40),
            head_blocks=_integer("BENCH_HEAD_BLOCKS", 300, 10),
            head_pace=_integer("BENCH_HEAD_PACE", 10, 1),
            traces=_text("BENCH_TRACES", "none", "|".join(TRACERS)),
            only=re.compile(os.environ.get("BENCH_ONLY", "")),
            folder=Path(os.environ.get("BENCH_DIR") or ROOT / "var" / "bench").absolute(),
        )


def _integer(name: str, default: int, least: int) -> int:
    text = _text(name, str(default), r"[0-9_]+")
    if int(text) < least:
        raise SettingError(name, text, f"must be {least} or more")
    return int(text)


def _text(name: str, default: str, pattern: str) -> str:
    text = os.environ.get(name) or default
    if not re.fullmatch(pattern, text):
        raise SettingError(name, text, f"must match {pattern}")
    return text


# Of the synthetic chain that this process makes or serves.
BLOCK_TRANSACTIONS = min(
    _integer("BENCH_BLOCK_TRANSACTIONS", MOST_BLOCK_TRANSACTIONS, 1), MOST_BLOCK_TRANSACTIONS
)
