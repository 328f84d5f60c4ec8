"""A page or a file shows the numbers of its record: it computes none of its own."""

import ast

import pytest
from jinja2 import Environment, nodes

from tests.support.serving import ROOT

pytestmark = pytest.mark.check

EXTENSIONS = ROOT / "scan" / "extensions"
SHOWING = ("exports", "etherscan", "blockscout", "sourcify")  # extensions that do nothing else
# Modules of all other extensions.
SHOWN_BY = ("pages.py", "views.py", "exports.py", "blockscout.py")
# They are given numbers, and no record: units, percentages, cells.
FORMATTERS = {"pages/formatting.py", "exports/csv_columns.py"}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
CALLS = {"sum", "max", "min", "round", "divmod"}
TEMPLATE_OPERATORS = (
    nodes.Add,
    nodes.Sub,
    nodes.Mul,
    nodes.Div,
    nodes.FloorDiv,
    nodes.Mod,
    nodes.Pow,
)
TEMPLATE_FILTERS = {"sum", "round", "max", "min"}

# Where there is arithmetic, and why none of it is a fact about the chain.
REASONS = {
    "addresses_by_balance/accounts.html:loop.index0 shown.first": "the place of a row in its list",
    "pages/records.py:shown_value": "the largest number of an integer type",
    "pages/base.html:links menu_of_extensions title": "a list of links",
    "pages/block.html:block.number": "links to the blocks beside it",
    "pages/filters.html:list.number": "the pages of a list",
    "pages/svg_charts.py:": "the geometry of a chart",
    "contract_details/contract_code.html:file.lines": "a link to the line after the last shown one",
    "contract_details/contract_read.html:most": "characters that are shown of a result's part",
    "pages/chart.html:chart.": "the grid of a chart",
    "pages_as_markdown/markdown.py:": "the length of a fence, and lines put together",
    "markets/views.py:candle_chart": "the geometry of a chart",
    "markets/views.py:_ticks": "the geometry of a chart",
    "markets/views.py:y": "the geometry of a chart",
    "pages/records.py:first": "places in a list, by the number of its page",
    "pages/records.py:listing": "the least total of a list that is not counted",
    "pages/records.py:pages": "the number of pages of a list",
    "chain_statistics/views.py:_gas_charts": "a ratio in basis points, for a chart's axis",
    "simulation/pages.py:_wei": "what is typed in coins, in wei",
    "search/suggestions.html:place.number": "the id of an element",
    "pages/token.html:loop.index0 shown.first": "the place of a row in its list",
    "pages/tokens.html:loop.index0 tokens.first": "the place of a row in its list",
    "chain_statistics/views.py:list_largest_transfers": "texts of JSON put together",
    "mail/views.py:confirm": "a random number above 0",
    "search/views.py:": "digits of a hash, and lists put together",
    "chain_statistics/views.py:_token_days": "the end of a range of days",
    "explanations/pages.py:shown_calls": "the indentation of a call tree",
    "explanations/pages.py:_lines": "the indentation of a call tree",
    "explanations/pages.py:end": "the indentation of a call tree",
    "blockscout/blocks.py:withdrawal_objects": "the end of a range of blocks",
    "blockscout/lists.py:before_block": "the end of a range of blocks",
    "blockscout/lists.py:read_page": "the place of a row in its list",
    "blockscout/decoded_objects.py:failures": "the reasons that were read, and the time for them",
    "blockscout/lists.py:row_count": "the rows of a page",
    "blockscout/activity_pages.py:_position": "the place of a row in its list",
    "blockscout/advanced_filters.py:_search": "a set without one value",
    "blockscout/blocks.py:_rewards": "lists put together",
    "blockscout/contracts.py:_created_within": "the beginning of a span of time",
    "blockscout/decoded_objects.py:_member_types": "brackets in the text of a type",
    "blockscout/routing.py:": "names of parameters, and a path",
    "blockscout/transactions.py:list_logs": "the end of a page",
    "blockscout/transactions.py:list_state_changes": "the end of a page",
    "blockscout/decoded_objects.py:_gained": "transfers of one transaction, which is read whole",
    "blockscout/contracts.py:get_contract": "the code of a delegation, put together",
    "blockscout/decoded_objects.py:balances_of": "a change that the node's balances confirm",
    "blockscout/decoded_objects.py:state_change_objects": "lists put together",
    "blockscout/entity_lists.py:sorted_transactions_response": "the ends of a page",
    "blockscout/network_and_search.py:_gas_price": "a suggestion's base fee, a transfer's cost",
    "blockscout/tokens.py:list_tokens": "the rows of a page",
    "blockscout/transactions.py:read_balances": "the block before the transaction's",
    "user_operations/blockscout.py:list_operations": "the rows of a page",
    "etherscan/chain.py:_block_number": "a bound of the parameter",
    "etherscan/chain.py:_dates": "the length of a range of days, against its bound",
    "etherscan/replies.py:first_block": "a bound of the parameter",
    "etherscan/replies.py:last_block": "a bound of the parameter",
    "etherscan/replies.py:limit_and_offset": "the offset of a page of a list",
    "etherscan/replies.py:result_window": "the end of a page of a list, against its bound",
    "etherscan/proxy.py:_call_object": "a bound of the parameter",
    "etherscan/replies.py:refuse": "a message of two texts",
    "etherscan/verification.py:_arguments": "the spellings of a parameter's name",
    "etherscan/verification.py:verification_status": "a message of two texts",
    "etherscan/transactions.py:_transfer": "the names of columns",
    "exports/parquet.py:integers": "one number stored as four words",
    "exports/parquet.py:make_table": "arrays put together",
    "history/exports.py:_change": "the record's amount with the sign of its direction",
    "exports/export_command.py:run": "names of tables, and the last block in the files",
    "exports/list_files.py:": "seconds that files still take",
    "exports/list_files.py:send": "a path",
    "exports/list_files.py:header": "the first line of a file after its byte order mark",
    "exports/list_files.py:_write": "rows and seconds, against their bounds",
    "exports/table_export.py:": "ranges of blocks, paths, and rows counted for the progress bar",
    "exports/table_files.py:": "rows counted for the size of a batch",
    "decoder/decode.html:position": "the place of a call in its list",
    "clear_signing/clear_signing.html:position": "the place of a call in its list",
    "feeds/pages.py:": "the newest time of entries, and how many versions were read",
}


def is_text(node):
    """Whether an operand makes the operation one on texts, bytes, lists or paths."""
    kinds = (ast.JoinedStr, ast.List, ast.Tuple)
    return isinstance(node, kinds) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def is_constant(node):
    inside = [*ast.walk(node)]
    modules = [n.value for n in inside if isinstance(n, ast.Attribute) and n.attr.isupper()]
    names = [n.id for n in inside if isinstance(n, ast.Name) and n not in modules]
    return all(map(str.isupper, names)) and not any(isinstance(n, ast.Call) for n in ast.walk(node))


def computes(node):
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in CALLS
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, OPERATORS)
    if isinstance(node, ast.BinOp) and isinstance(node.op, OPERATORS):
        return not (is_constant(node) or is_text(node.left) or is_text(node.right))
    return False


def functions(path):
    """The functions of a file by name; those without one, such as columns, are `lambda`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            yield getattr(node, "name", "lambda"), node


def operands(node):
    """What an expression of a template is made of: `loop.index0 shown.first`."""
    fields = {
        f"{field.node.name}.{field.attr}"
        for field in [node, *node.find_all(nodes.Getattr)]
        if isinstance(field, nodes.Getattr) and isinstance(field.node, nodes.Name)
    }
    names = {name.name for name in node.find_all(nodes.Name)}
    return " ".join(sorted(fields | {n for n in names if not any(f"{n}." in f for f in fields)}))


def modules():
    """What shows records: files by `room/file.py` or, of an extension, `extension/file.py`."""
    paths = [
        *(ROOT / "scan" / "pages").glob("*.py"),
        *(path for name in SHOWING for path in EXTENSIONS.glob(f"**/{name}/*.py")),
        *(path for name in SHOWN_BY for path in EXTENSIONS.rglob(name)),
    ]
    return {f"{path.parent.name}/{path.name}": path for path in sorted(paths)}


def templates():
    paths = (ROOT / "scan").glob("**/templates/*.html")
    return {f"{path.parent.parent.name}/{path.name}": path for path in sorted(paths)}


def arithmetic():
    """Places that compute: `room/file.py:function`, or `room/template.html:operands`."""
    for name, path in modules().items():
        for function, node in functions(path) if name not in FORMATTERS else ():
            if any(map(computes, ast.walk(node))):
                yield f"{name}:{function}"
    for name, path in templates().items():
        template = Environment().parse(path.read_text(encoding="utf-8"))
        for node in template.find_all((*TEMPLATE_OPERATORS, nodes.Filter)):
            if not isinstance(node, nodes.Filter) or node.name in TEMPLATE_FILTERS:
                yield f"{name}:{operands(node)}"


def test_pages_and_files_compute_no_number_of_the_chain():
    places = set(arithmetic())
    unknown = sorted(place for place in places if not place.startswith(tuple(REASONS)))
    assert unknown == [], "computed where it is shown: put it into the record, or say why not"
    shown = {name.partition("/")[0] for name in modules()}  # an extension may be taken away
    unused = sorted(
        reason
        for reason in REASONS
        if reason.partition("/")[0] in shown and not any(p.startswith(reason) for p in places)
    )
    assert unused == [], "these reasons have lost their place"


# Whose keys are names of a match, not of a record.
MATCHES = {"fit_fractions"}


def test_formatters_compute_with_no_field_of_a_record():
    for path in [path for name, path in modules().items() if name in FORMATTERS]:
        for function, tree in functions(path):
            keys = [
                node.slice.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Constant)
                and isinstance(node.slice.value, str)
            ]
            computing = function not in MATCHES and any(map(computes, ast.walk(tree)))
            assert not (keys and computing), (path, function)
