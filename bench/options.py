"""The options of a run, from BENCH_* variables; a malformed one stops the start."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from scan.errors import SettingError
from scan.settings import ROOT

CONNECTIONS = 8


@dataclass(frozen=True)
class Options:
    transactions: int
    seconds: int
    rounds: int
    ingest_blocks: int
    hot_share: float
    only: re.Pattern[str]
    folder: Path
    results: Path

    def wants(self, name: str) -> bool:
        return self.only.search(name) is not None

    @staticmethod
    def from_environment() -> "Options":
        return Options(
            transactions=_integer("BENCH_TRANSACTIONS", 1_000_000, 15_000),
            seconds=_integer("BENCH_SECONDS", 1, 1),
            rounds=_integer("BENCH_ROUNDS", 3, 1),
            ingest_blocks=_integer("BENCH_INGEST_BLOCKS", 2_000, 40),
            hot_share=_share("BENCH_HOT_SHARE", 0.05),
            only=_pattern("BENCH_ONLY"),
            folder=Path(os.environ.get("BENCH_DIR") or ROOT / "var" / "bench").absolute(),
            results=Path(os.environ.get("BENCH_DIR") or ROOT / "bench").absolute() / "results.json",
        )


def _integer(name: str, default: int, least: int) -> int:
    text = os.environ.get(name) or str(default)
    digits = text.replace("_", "")
    if not (digits.isascii() and digits.isdigit()) or int(digits) < least:
        raise SettingError(name, text, f"must be a whole number, {least} or more")
    return int(digits)


def _share(name: str, default: float) -> float:
    text = os.environ.get(name) or str(default)
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise SettingError(name, text, "must be a number from 0 to 1")
    return share


def _pattern(name: str) -> re.Pattern[str]:
    text = os.environ.get(name, "")
    try:
        return re.compile(text)
    except re.error as error:
        raise SettingError(name, text, f"must be a regular expression: {error}") from None
