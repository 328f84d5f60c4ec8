"""A run's results as Markdown, for the terminal and for bench/README.md."""

from collections.abc import Iterator
from typing import Any

from bench.ingest import memory_growth, slowest_steps
from bench.targets import Target, ratio

COLUMNS = ("scan", "bare", "plain", "fastapi", "orm", "small", "pgbench")


def write(results: dict[str, Any], targets: list[Target]) -> str:
    parts = [_machine(results["machine"], results["options"])]
    if serving := results.get("serving"):
        parts.append(_serving(serving))
    if ingest := results.get("ingest"):
        parts.append(_ingest(ingest))
    if storage := results.get("storage"):
        parts.append(_storage(storage))
    parts.append(_targets(targets))
    return "\n\n".join(parts) + "\n"


def _machine(machine: dict[str, Any], options: dict[str, Any]) -> str:
    before, after = machine["load_before"], machine["load_after"]
    return (
        f"{machine['processors']} processors ({machine['model']}), {machine['memory_gib']} GiB,"
        f" Python {machine['python']}, commit {machine['commit']};"
        f" load {before:.1f} before the run and {after:.1f} after it.\n"
        f"{options['transactions']:,} transactions; {options['rounds']} rounds of"
        f" {options['seconds']} s, medians."
    )


def _serving(serving: dict[str, Any]) -> str:
    head = [
        "",
        *(f"{name}/s" for name in COLUMNS),
        "scan p50 ms",
        "scan p99 ms",
        "of bare",
        "of plain",
    ]
    rows = [_case(case) for case in serving["cases"]]
    notes = list(_notes(serving["cases"]))
    return "\n".join(["## Requests per second", "", *_table(head, rows), *notes])


def _case(case: dict[str, Any]) -> list[str]:
    servers = case["servers"]
    rates = [_rate(servers.get(name)) for name in COLUMNS]
    scan = servers["scan"]
    shares = [
        f"{ratio(servers, other, 'per_s'):.2f}" if other in servers else ""
        for other in ("bare", "plain")
    ]
    name = f"{case['name']}, {case['place']}"
    tail = "" if scan["p99_ms"] is None else f"{scan['p99_ms']:.1f}"
    return [name, *rates, f"{scan['p50_ms']:.2f}", tail, *shares]


def _rate(server: dict[str, Any] | None) -> str:
    if server is None:
        return ""
    mark = "*" if server["one_at_a_time"] else ""
    return f"{server['per_s']:,.{0 if server['per_s'] >= 20 else 2}f}{mark}"


def _notes(cases: list[dict[str, Any]]) -> Iterator[str]:
    if any(one["one_at_a_time"] for case in cases for one in case["servers"].values()):
        yield "\n\\* one request takes longer than a measurement lasts: single requests were timed"
    for case in cases:
        name = f"{case['name']}, {case['place']}"
        if case["differs"]:
            yield f"\n{name}: the response of {', '.join(case['differs'])} differs"
        failed = {name: one["failed"] for name, one in case["servers"].items() if one["failed"]}
        if failed:
            yield f"\n{name}: failed requests {failed}"


def _ingest(ingest: dict[str, Any]) -> str:
    peer, copy = ingest["ethereum_etl"], ingest["raw_copy"]
    rows = [
        ["raw COPY of the base rows (the limit)", f"{copy['transactions_per_s']:,.0f}"],
        ["the indexer, everything derived", f"{ingest['transactions_per_s']:,.0f}"],
        ["ethereum-etl to CSV files", peer.get("skipped") or f"{peer['transactions_per_s']:,.0f}"],
    ]
    growth = memory_growth(ingest["samples"])
    memory = [round(sample["resident_bytes"] / 2**20) for sample in ingest["samples"]]
    seconds = ingest["seconds"]
    steps = [
        [name, f"{wall:.2f}", f"{wall / seconds:.0%}", f"{processor:.2f}"]
        for name, wall, processor in slowest_steps(ingest["steps"])
    ]
    processor = ingest["steps"].get("process", [0, 0.0, 0])[1]
    fetching = ingest["steps"].get("fetch process", [0, 0.0, 0])[1]
    text = (
        f"{ingest['blocks']:,} blocks, {ingest['transactions']:,} transactions in {seconds:.1f} s;"
        f" CPU time of the indexer {processor:.1f} s, of its fetching process"
        f" {fetching:.1f} s, of PostgreSQL {ingest['database_processor_s']:.1f} s, of the synthetic"
        f" node {ingest['node_processor_s']:.1f} s. Memory of the first two, MiB: {_some(memory)}"
        + ("" if growth is None else f" (at the end {growth:.2f} times that after a third)")
        + "."
    )
    clock = _table(["step", "wall s", "of the whole", "processor s"], steps)
    rates = _table(["", "transactions/s"], rows)
    return "\n".join(["## Indexing", "", *rates, "", text, "", *clock])


def _some(values: list[int], most: int = 12) -> str:
    step = max(1, len(values) // most)
    return ", ".join(map(str, values[::step]))


def _storage(storage: dict[str, Any]) -> str:
    rows = [
        [name, f"{table['rows']:,}", f"{table['bytes'] / 2**20:,.1f}", _bytes_per_row(table)]
        for name, table in storage["tables"].items()
    ]
    text = (
        f"A transaction takes {storage['bytes_per_transaction']:.0f} bytes: row and indexes"
        f" {storage['of_which_its_own_row_and_indexes']:.0f}, its share of the rows per address"
        f" {storage['of_which_per_address_rows']:.0f}, the rest its share of blocks."
        f" A token transfer takes {storage['bytes_per_token_transfer']:.0f} with its indexes;"
        f" in addition, its share of holders takes {storage['beside_it_holders']:.0f}, and of the"
        f" rows per address {storage['beside_it_per_address_rows']:.0f}."
    )
    lines = _table(["table with its indexes", "rows", "MiB", "bytes/row"], rows)
    return "\n".join(["## Storage", "", *lines, "", text])


def _bytes_per_row(table: dict[str, Any]) -> str:
    return f"{table['bytes'] / table['rows']:.0f}" if table["rows"] else ""


def _targets(targets: list[Target]) -> str:
    words = {True: "met", False: "NOT MET", None: "not measured"}
    rows = [[target.text, words[target.met], target.result] for target in targets]
    return "\n".join(["## Targets", "", *_table(["target", "", "result"], rows)])


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Markdown that reads well in a terminal, too: numbers to the right."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    lines = [head, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], *rows]
    return ["| " + " | ".join(_cells(line, widths)) + " |" for line in lines]


def _cells(line: list[str], widths: list[int]) -> list[str]:
    first, *rest = (cell.strip() for cell in line)
    return [first.ljust(widths[0])] + [
        cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)
    ]
