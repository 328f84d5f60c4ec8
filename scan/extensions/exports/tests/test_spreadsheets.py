"""A CSV file opened by a spreadsheet: LibreOffice where it is installed, else Gnumeric."""

import re
import shutil
import subprocess
import zipfile
from collections import namedtuple
from xml.etree import ElementTree

import pytest

from scan.extensions.exports import csv_columns
from scan.http import csv_text
from tests.support import WAIT_S
from tests.support.serving import program

pytestmark = pytest.mark.check

MOST = 2**256 - 1
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
# As its dialog: comma, quotes, UTF-8, from line 1, numbers and times are recognised.
LIBREOFFICE_IMPORT = "Text - txt - csv (StarCalc):44,34,76,1,,0,false,true"


ReadCell = namedtuple("ReadCell", "type value text formula")


def transfers(symbols):
    listed = csv_columns.columns("transfers", "0x" + 40 * "1")
    context = csv_columns.Context("0x" + 40 * "1", "ETH", {})
    records = [
        {
            "transactionHash": "0x" + 64 * "2", "blockNumber": 17, "logIndex": 3, "batchIndex": 0,
            "tokenAddress": "0x" + 40 * "3", "tokenType": "BEP20", "fromAddress": "0x" + 40 * "1",
            "toAddress": "0x" + 40 * "4", "value": str(MOST), "tokenId": str(MOST),
            "timestamp": "2024-01-31T23:59:58Z", "tokenSymbol": symbol, "tokenDecimals": 18,
            "initiatedBy": "0x" + 40 * "5", "suspicious": "imitation",
        }
        for symbol in symbols
    ]  # fmt: skip
    rows = [[column.cell(record, context) for column in listed] for record in records]
    header = [[column.name for column in listed]]
    return csv_text.BYTE_ORDER_MARK + csv_text.lines([*header, *rows])


def opened(path):
    """What the spreadsheet made of it, by an OpenDocument file."""
    if shutil.which("soffice"):
        profile = f"-env:UserInstallation=file://{path.parent}/profile"
        command = ["soffice", profile, "--headless", f"--infilter={LIBREOFFICE_IMPORT}"]
        command += ["--convert-to", "ods", "--outdir", str(path.parent), str(path)]
    else:
        command = [program("ssconvert"), str(path), str(path.with_suffix(".ods"))]
    subprocess.run(command, check=True, capture_output=True, timeout=WAIT_S)
    with zipfile.ZipFile(path.with_suffix(".ods")) as archive:
        content = ElementTree.fromstring(archive.read("content.xml"))
    return [
        [_cell(cell) for cell in row if OFFICE + "value-type" in cell.attrib]
        for row in content.iter(TABLE + "table-row")
    ]


def _cell(cell):
    value = cell.get(OFFICE + "value") or cell.get(OFFICE + "date-value") or ""
    kind = cell.attrib[OFFICE + "value-type"]
    return ReadCell(kind, value, "".join(cell.itertext()), cell.get(TABLE + "formula"))


@pytest.mark.long
def test_a_spreadsheet_reads_every_value_as_what_it_is(tmp_path):
    hostile = [
        "=1+1",
        "+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        ' =HYPERLINK("http://x")',
        "a;=1",
        'b",=1',
        "é 漢字",
    ]
    path = tmp_path / "transfers.csv"
    path.write_bytes(transfers(hostile))
    header, *rows = [row for row in opened(path) if row]
    names = [cell.text for cell in header]
    assert names[0] == "time_utc"
    assert len(rows) == len(hostile)
    for row, symbol in zip(rows, hostile, strict=True):
        cells = dict(zip(names, row, strict=True))
        assert [cell for cell in row if cell.formula is not None] == []
        assert cells["date_time"].type == "date"
        assert cells["date_time"].value.startswith("2024-01-31")
        assert (cells["block"].type, cells["block"].text) == ("float", "17")
        assert cells["amount"].type == "float"
        assert float(cells["amount"].value) == pytest.approx(MOST / 10**18, rel=1e-14)
        assert (cells["units"].type, cells["units"].text) == ("string", f"{MOST} units")
        assert (cells["token_id"].type, cells["token_id"].text) == ("string", f"#{MOST}")
        assert cells["transaction"].text == "0x" + 64 * "2"
        shown = re.sub(r"[\s']", "", cells["symbol"].text)
        assert (cells["symbol"].type, shown) == ("string", re.sub(r"[\s']", "", symbol))
