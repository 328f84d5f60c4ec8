"""Which functions and statements run."""

import re
import sys
import threading
from collections.abc import Collection
from pathlib import Path
from types import CodeType, FrameType


def is_among(key: str, entered: Collection[str]) -> bool:
    """Whether a function or statement ran, or one of a template such as `queries/{list}_page`."""
    if "{" not in key:
        return key in entered
    pattern = re.compile(re.sub(r"\{\w+\}", r"\\w+", key))
    return any(pattern.fullmatch(name) for name in entered)


class Recorder:
    """The functions of scan/ that are entered, as `place:line`, and the names of statements."""

    def __init__(self, root: Path) -> None:
        self._prefix = f"{root}/"
        self._keys: dict[int, str] = {}
        self.entered: set[str] = set()

    def start(self) -> None:
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self) -> None:
        threading.settrace(None)  # type: ignore[arg-type]
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        key = self._keys.get(id(code))
        if key is None:
            key = self._keys[id(code)] = self._key(code)
        if key:
            self.entered.add(key)
            if "statement" in code.co_varnames[: code.co_argcount]:
                self.entered.add(str(frame.f_locals["statement"]))

    def _key(self, code: CodeType) -> str:
        place = code.co_filename.removeprefix(self._prefix)
        return f"{place}:{code.co_firstlineno}" if place.startswith(("scan/", "app.py")) else ""
