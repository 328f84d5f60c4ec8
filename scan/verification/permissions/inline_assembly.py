"""What inline assembly may do, by the words in it, without its comments.

A word may be a name of something else, so that assembly does at most what is said here.
"""

import re
from typing import NamedTuple

from scan.verification.permissions.syntax_tree import Budget, Node, SyntaxTree

# Texts are kept whole, since one may contain what looks like a comment; lines end as in solc.
_COMMENT = re.compile(
    r""" ("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
       | //[^\n\x0b\x0c\r\u2028\u2029]* | /\*.*?\*/ """,
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_DELEGATING = {"delegatecall", "callcode"}
_DESTROYING = {"selfdestruct", "suicide"}
_JUMPING = {"jump", "jumpi"}  # before 0.5
_WRITING = {"sstore", "call", "create", "create2"} | _DELEGATING | _JUMPING
# What sets a pointer into storage to a slot, and nothing else; `_slot` before 0.7.
_SETTING = re.compile(
    r"""assembly \s* (\([^()]*\))? \s* \{ \s*
        [\w$]+ [._] slot \s* := \s* (?P<slot>[\w$]+) \s* \} \s*""",
    re.VERBOSE,
)


class Assembly(NamedTuple):
    """What assembly may do. `reads_data`: it reads what is passed; `writes`: it changes state
    variables, by calls, too, `writes_transient`: those of the transaction; `ends`: it ends the
    whole call without reverting it. `slot`: the name or number that it sets a pointer to, where it
    does nothing else."""

    reads_caller: bool
    reads_data: bool
    writes: bool
    writes_transient: bool
    ends: bool
    delegates: bool
    destroys: bool
    slot: str | None


def assembly_of(node: Node, tree: SyntaxTree, budget: Budget) -> Assembly:
    """Return what the assembly at a node may do, whose text is read once for each contract."""
    key = str(node.get("src"))
    if key not in tree.assemblies:
        tree.assemblies[key] = _read(tree.source(node, budget))
    return tree.assemblies[key]


def without_comments(text: str) -> str:
    return _COMMENT.sub(lambda match: match[1] or " ", text)


def _read(text: str) -> Assembly:
    code = without_comments(text)
    words = {*_WORD.findall(code)}
    setting = _SETTING.fullmatch(code)
    return Assembly(
        reads_caller=not words.isdisjoint(("caller", "origin")),
        reads_data=any(word.startswith("calldata") for word in words),
        writes=not words.isdisjoint(_WRITING),
        writes_transient="tstore" in words,
        ends=not words.isdisjoint({"stop", "return"} | _DESTROYING | _JUMPING),
        delegates=not words.isdisjoint(_DELEGATING),
        destroys=not words.isdisjoint(_DESTROYING),
        slot=setting["slot"] if setting else None,
    )
