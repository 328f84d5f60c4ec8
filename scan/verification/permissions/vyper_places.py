"""Where expressions of Vyper are in their source.

Vyper 0.4 cuts the last characters of what follows `staticcall` or `extcall` in a line where a space
comes after it. What is at least there follows from names and parts.
"""

import re

from scan.verification.permissions.syntax_tree import Node

_SRC = re.compile(r"(\d{1,9}):(\d{1,9}):(-?\d{1,9})")
_PARTS = (
    "func args keywords value left right operand values elements slice test body orelse".split()
)


class Places:
    """The ranges of the expressions of one function, each computed once."""

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}

    def src(self, node: Node) -> object:
        """Return where a node is, `start:length:file`, with all that it consists of."""
        src = _SRC.fullmatch(str(node.get("src")))
        if src is None:
            return node.get("src")
        return f"{src[1]}:{max(self._end(node) - int(src[1]), 0)}:{src[3]}"

    def _end(self, node: Node) -> int:
        if (end := self._ends.get(id(node))) is not None:
            return end
        src = _SRC.fullmatch(str(node.get("src")))
        name_length = len(str(node.get("id") or ""))
        end = int(src[1]) + max(int(src[2]), name_length) if src else 0
        for name in _PARTS:
            child = node.get(name)
            for part in child if isinstance(child, list) else [child]:
                if isinstance(part, dict):
                    end = max(end, self._end(part) + _after(node, name))
        self._ends[id(node)] = end
        return end


def _after(node: Node, part: str) -> int:
    """Return how many characters follow a part of a node at least."""
    if node.get("ast_type") == "Attribute":
        return 1 + len(str(node.get("attr")))
    if node.get("ast_type") != "Call":
        return 0
    has_arguments = node.get("args") or node.get("keywords")
    return 1 if part != "func" or has_arguments else 2
