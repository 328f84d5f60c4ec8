"""Mutants of Python text: one comparison, operator, `not`, number or call of a function changed."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.support.sql_mutants import Mutant

OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult},
}
UNCHANGED = ("log.", "logging.", "gc.")  # calls without a result that a test looks at


class Function(NamedTuple):
    """A function or method of a module, nested ones included, and the mutants of its body."""

    name: str
    body: int  # offset of its first statement
    indent: int
    mutants: list[Mutant]


def functions(text: str) -> Iterator[Function]:
    """Every function of a module that does more than its docstring."""
    offsets = _Offsets(text)
    for node, name in _definitions(ast.parse(text).body):
        statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if statements:
            start, _ = offsets.span(statements[0])
            changes = [m for s in statements for m in _of_statement(s, offsets)]
            yield Function(name, start, statements[0].col_offset, changes)


def _definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node, prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _definitions(node.body, f"{prefix}{node.name}.")


class _Offsets:
    """Offsets of nodes in a text; ast counts lines, and bytes of UTF-8 in them."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (
            self._offset(node.lineno, node.col_offset),
            self._offset(node.end_lineno, node.end_col_offset),
        )

    def _offset(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)


def _of_statement(statement: ast.stmt, offsets: _Offsets) -> Iterator[Mutant]:
    """Depth first, without annotations, assertions and formatted text."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assert | ast.JoinedStr | ast.arguments):
            continue
        for kind, old, new in _changes(node):
            start, end = offsets.span(old)
            yield Mutant(kind, start, end, new)
        skipped = node.annotation if isinstance(node, ast.AnnAssign) else None
        pending += reversed([n for n in ast.iter_child_nodes(node) if n is not skipped])


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.stmt | ast.expr, str]]:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in OPPOSITES:
            changed = ast.Compare(left, [_opposite(operator)], [right])
            yield "comparison", node, f"({ast.unparse(changed)})"
        case ast.BoolOp(operator, values):
            yield "operator", node, f"({ast.unparse(ast.BoolOp(_opposite(operator), values))})"
        case ast.BinOp(left, operator, right) if type(operator) in OPPOSITES and not _is_text(node):
            changed_sum = ast.BinOp(left, _opposite(operator), right)
            yield "operator", node, f"({ast.unparse(changed_sum)})"
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", node, f"({ast.unparse(operand)})"
        case ast.If(test) | ast.While(test) | ast.IfExp(test) if isinstance(
            test, ast.Name | ast.Attribute | ast.Call
        ):
            yield "not", test, f"(not {ast.unparse(test)})"
        case ast.Constant(int(number)) if not isinstance(number, bool):
            yield "bound", node, str(number + 1)
        case ast.Expr(ast.Call() as call) if not ast.unparse(call).startswith(UNCHANGED):
            yield "call", node, "pass"


def _opposite(operator: ast.AST) -> ast.AST:
    return OPPOSITES[type(operator)]()


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )
