"""Mutants of SQL text: the same text with one condition, sign, join or branch taken out.

They are found among the text's tokens; whether PostgreSQL accepts one is seen when it is tried.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"--[^\n]*|'(?:[^']|'')*'|\$\$|%\(\w+\)s|\w+(?:\.\w+)*"
    r"|<>|<=|>=|::|\|\||->>|->|=>|[@&|~#]+[<>&]?|[^\s\w]"
)
# A condition ends at these words where they stand beside it, outside of its parentheses.
ENDS = {
    *("AND", "OR", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "UNION", "EXCEPT"),
    *("RETURNING", "WINDOW", "THEN", "ELSE", "WHEN", "JOIN", "LEFT", "CROSS", "ON", "FOR"),
    *("SELECT", "FROM", "SET", "DO"),
}
NOT_OPERANDS = {*ENDS, "BY", "IN", "AS", "NOT", "LIKE", "BETWEEN", "ALL"}
OPPOSITES = {
    **{"<>": "=", "<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    **{"min": "max", "max": "min", "greatest": "least", "least": "greatest"},
    **{"ASC": "DESC", "DESC": "ASC"},
}
SIGNS = {"+": "-", "-": "+"}


class Mutant(NamedTuple):
    """One change: what stands between `start` and `end` of a text is replaced."""

    kind: str
    start: int
    end: int
    replacement: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.replacement + text[self.end :]


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    depth: int  # how many parentheses and CASEs it stands in

    @property
    def word(self) -> str:
        return self.text.upper()


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a text, in the order of what they change."""
    yield from (mutant for mutant in _mutants(text) if mutant.apply(text) != text)


def _mutants(text: str) -> Iterator[Mutant]:
    tokens = _tokens(text)
    for position, token in enumerate(tokens[:-1]):
        before, after = tokens[position - 1 if position else 0], tokens[position + 1]
        match token.word:
            case "WHERE" | "HAVING":
                yield _replaced("condition", tokens, position, "true")
            case "AND" if not _is_of_between(tokens, position):
                yield _replaced("condition", tokens, position, "true")
            case "ON" if after.word != "CONFLICT" and before.word != "DISTINCT":
                yield _replaced("condition", tokens, position, "true")
            case "OR" if after.word != "REPLACE":
                yield _replaced("condition", tokens, position, "false")
            case "WHEN" if _is_of_searched_case(tokens, position):
                yield _replaced("case", tokens, position, "false")
            case "LEFT" if after.word == "JOIN":
                yield Mutant("join", token.start, token.end, "")
            case "DISTINCT" if after.word not in ("FROM", "ON"):
                yield Mutant("distinct", token.start, token.end, "")
            case "UNION":
                yield from _without_branches(text, tokens, position)
            case "+" | "-" if _is_operand(before):
                yield Mutant("sign", token.start, token.end, SIGNS[token.text])
        if token.text in OPPOSITES and (token.text not in ("min", "max") or after.text == "("):
            yield Mutant("opposite", token.start, token.end, OPPOSITES[token.text])


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    open_: list[str] = []
    for match in TOKEN.finditer(text):
        word = match[0].upper()
        if word.startswith("--"):
            continue
        # Blocks and IFs of PL/pgSQL end with END, too, which closes no CASE.
        if open_ and (word in (")", "]") or (word == "END" and open_[-1] == "CASE")):
            open_.pop()
        tokens.append(_Token(match[0], match.start(), match.end(), len(open_)))
        is_end_case = word == "CASE" and len(tokens) > 1 and tokens[-2].word == "END"
        if word in ("(", "[", "CASE") and not is_end_case:
            open_.append(word)
    return tokens


def _replaced(kind: str, tokens: list[_Token], position: int, replacement: str) -> Mutant:
    """The condition behind the word at `position` is replaced by a constant."""
    depth = tokens[position].depth
    is_between = False
    last = position + 1
    for index in range(position + 1, len(tokens)):
        token = tokens[index]
        if token.depth < depth or (token.depth == depth and token.text in (",", ";", "$$")):
            break
        if token.depth == depth and token.word in ENDS and index > position + 1:
            is_distinct_from = token.word == "FROM" and tokens[index - 1].word == "DISTINCT"
            if not is_distinct_from and not (token.word == "AND" and is_between):
                break
        if token.depth == depth and token.word in ("BETWEEN", "AND"):
            is_between = token.word == "BETWEEN"
        last = index
    return Mutant(kind, tokens[position + 1].start, tokens[last].end, replacement)


def _is_of_between(tokens: list[_Token], position: int) -> bool:
    depth = tokens[position].depth
    for token in reversed(tokens[:position]):
        if token.depth < depth or (token.depth == depth and token.word in ENDS):
            return False
        if token.depth == depth and token.word == "BETWEEN":
            return True
    return False


def _is_of_searched_case(tokens: list[_Token], position: int) -> bool:
    """Whether a WHEN is one of CASE WHEN …, not of CASE value WHEN …."""
    for index in range(position - 1, -1, -1):
        if tokens[index].depth < tokens[position].depth:
            return tokens[index].word == "CASE" and tokens[index + 1].word == "WHEN"
    return False


def _is_operand(token: _Token) -> bool:
    return token.word not in NOT_OPERANDS and (token.text[0].isalnum() or token.text[0] in "_'%)]")


def _without_branches(text: str, tokens: list[_Token], position: int) -> Iterator[Mutant]:
    """The branch after a UNION without rows, and the one before, where this UNION is the first."""
    depth = tokens[position].depth
    first = last = position + (2 if tokens[position + 1].word == "ALL" else 1)
    for index in range(first, len(tokens)):
        token = tokens[index]
        is_beside = token.depth == depth and token.word in ("UNION", "EXCEPT", "ORDER", "LIMIT")
        if token.depth < depth or token.text in (";", "$$") or is_beside:
            break
        last = index
    yield _emptied(text, tokens[first], tokens[last])
    before = None
    for index in range(position - 1, -1, -1):
        token = tokens[index]
        if token.depth < depth:
            break
        if token.depth == depth and token.word == "UNION":
            return
        if before is None and token.depth == depth and _begins_branch(tokens, index):
            before = token
    if before is not None:
        yield _emptied(text, before, tokens[position - 1])


def _begins_branch(tokens: list[_Token], index: int) -> bool:
    """Whether a SELECT, or one in parentheses that is not an operand, begins at `index`."""
    if tokens[index].word == "SELECT":
        return True
    is_first = index == 0 or tokens[index - 1].word in ("(", "$$", ")", "ALL", "UNION")
    return is_first and tokens[index].text == "(" and tokens[index + 1].word == "SELECT"


def _emptied(text: str, first: _Token, last: _Token) -> Mutant:
    branch = text[first.start : last.end]
    return Mutant("branch", first.start, last.end, f"({branch} LIMIT 0)")
