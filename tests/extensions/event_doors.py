"""An event's logs by the API, in files and exports: the rows of its view."""

import csv
import io
import json
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal

import psycopg2
from pyarrow import parquet

from tests.support.scan_command import scan


class Followed:
    """A contract that is followed, or the children of a factory, by query parameters; and a client
    of its index."""

    def __init__(self, url, client, address, contract=None, **chosen):
        self.url, self.client, self.contract, self.chosen = url, client, contract, chosen
        self.path = f"/api/v1/contracts/{address}/events"

    def get(self, path="", /, **query):
        response = self.client.get(self.path + path, query_string={**self.chosen, **query})
        assert response.status_code == 200, response.text
        return response.json

    def rows(self, view):
        return rows_of(self.url, view)

    def file(self, event, file_format):
        path = f"{self.path}/{event['name']}"
        response = self.client.get(path, query_string={**self.chosen, "format": file_format})
        assert response.status_code == 200, response.text
        assert response.headers["X-Scan-Complete"] == "true"
        return response.text

    def require_pages_and_files(self, event, rows):
        """An event's pages, CSV and NDJSON have these rows of its view, newest first."""
        listed, cursor = [], {}
        while cursor is not None:
            page = self.get(f"/{event['name']}", limit=7, **cursor)
            assert page["total"] in (len(rows), None)
            listed += page["events"]
            cursor = page["next"] and {"cursor": page["next"]}
        names = [argument["name"] for argument in event["arguments"]]
        columns = [argument["column"] for argument in event["arguments"]]
        of_log = "blockNumber logIndex transactionHash timestamp address args".split()
        of_row = "block_number log_index transaction_hash timestamp contract".split()
        assert [[log[name] for name in of_log] for log in listed] == [
            [
                *(row[name] for name in of_row),
                {name: row[column] for name, column in zip(names, columns, strict=True)},
            ]
            for row in rows
        ]
        lines = self.file(event, "ndjson").splitlines()
        assert [json.loads(line) for line in lines] == rows
        text = self.file(event, "csv").removeprefix("\ufeff")
        in_file = [*csv.DictReader(io.StringIO(text, newline=""))]
        assert in_file == [{k: in_csv(v) for k, v in row.items()} for row in rows]


def rows_of(url, view):
    """The rows of a view by column, newest first."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {view} ORDER BY block_number DESC, log_index DESC")  # noqa: S608
        names = [column.name for column in cursor.description]
        return [dict(zip(names, map(in_json, row), strict=True)) for row in cursor.fetchall()]


def in_json(value):
    """A value of PostgreSQL as files have it."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, memoryview):
        return "0x" + bytes(value).hex()
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if hasattr(value, "strftime") else value


def in_csv(value):
    """A value of JSON as CSV has it."""
    if isinstance(value, bool | list | dict):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith("\t") else text  # which a spreadsheet takes for a formula


def require_exports(url, views, folder):
    """`scan export` has the rows of these views."""
    done = scan("export", *views, "--output", str(folder), DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
    for view in views:
        [file] = (folder / view).glob("*.parquet")
        require_rows(file, rows_of(url, view)[::-1])


def require_rows(file, rows):
    """A Parquet file has these rows of a view."""
    read = parquet.read_table(file).to_pylist()
    assert [(r["block_number"], r["log_index"]) for r in read] == [
        (r["block_number"], r["log_index"]) for r in rows
    ]
    for row, exported in zip(rows, read, strict=True):
        assert [as_exported(exported, name) for name in row] == [
            json.dumps(v) if isinstance(v, list | dict) else v for v in row.values()
        ]


def as_exported(row, name):
    """A value of an exported row as the view's row in JSON has it."""
    value = row.get(f"{name}_string", row[name])
    if name == "timestamp":
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return json.dumps(json.loads(value))
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number and name not in ("block_number", "log_index") else value
