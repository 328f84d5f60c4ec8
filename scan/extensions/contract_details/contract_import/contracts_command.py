"""`scan contracts`: takes verified contracts over from other explorers, exports ours, and makes the
source maps of contracts that were verified before source maps were kept.

For a source map the contract's own stored sources are compiled again and compared with its code.
What has a map is left out, so that an interrupted run goes on.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from scan.commands import arguments, startup
from scan.database.connection import Database
from scan.errors import InvalidParameter, ScanError, install_extra
from scan.extensions.contract_details import contract_page
from scan.extensions.contract_details.contract_import import importer, source_client
from scan.extensions.contract_details.contract_import.source_records import (
    Blockscout,
    Etherscan,
    Source,
    Sourcify,
)
from scan.files import file_errors, whole_file
from scan.hex import to_hex
from scan.observability.logs import print_lines
from scan.settings import Settings
from scan.verification import request
from scan.verification.verifier import Verifier, add_findings

NO_MAP = "the compiler gives no source map for it"


def _add_map(verifier: Verifier, row: tuple[object, ...]) -> str | None:
    """Return why a verified contract has no source map now; None where it has one."""
    try:
        submission = request.parse(importer.record_of(row, None).submission())
        compilers = verifier.compilers.of(submission.language.kind)
        compilers.compiler(submission.version, importer.DOWNLOAD_S)
        return None if add_findings(verifier, submission) else NO_MAP
    except ScanError as error:
        return error.message


NAME = "scan-contracts"
DEFAULT_RATE = 2.0
PARQUET = "parquet"
REPORT_EVERY = 100
_URL = re.compile(r"https?://[A-Za-z0-9.\-_\[\]:]+(/[A-Za-z0-9._~/-]*)?")

IMPORT = """\
Takes verified contracts over from another explorer, or from a file of `scan contracts export`:
    scan contracts import --from blockscout https://eth.blockscout.com
    scan contracts import --from sourcify https://sourcify.dev/server
    scan contracts import --from etherscan https://api.etherscan.io/v2/api @KEY_FILE
    scan contracts import contracts.ndjson
    scan contracts import --from parquet FOLDER
Every source is compiled here, and counts only if our own comparison with the indexed code matches.
A source that cannot be compiled here is kept as a claim. The import asks for all indexed contracts
without a verification, unless --addresses or --listed selects some. It continues when interrupted.

`--from parquet` reads the public export of Sourcify's repository, tables of Parquet files, for this
chain: https://docs.sourcify.dev/docs/repository/download-dataset. Its sources are claims at once,
also for contracts that are not indexed yet: a claim is shown when its address has the code that it
names. Scan compiles them in the background, first those of contracts that visitors open, then those
most recently used. A newer export adds to an older one. Needs the extra `bulk`, and no node."""

SOURCE_MAPS = """\
Lines of failures need the compiler's source map, and names of variables its layout of the storage.
Contracts that were verified before maps were kept are compiled again from their stored sources,
which adds both. One that was interrupted goes on."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    text = "verify what another explorer has verified"
    load = arguments.add_command(actions, "import", text, IMPORT, import_contracts)
    load.add_argument(
        "--from",
        dest="source",
        choices=("blockscout", "sourcify", "etherscan", PARQUET),
        help="the API that the URL serves, or an export; without it, the argument is a file",
    )
    load.add_argument("input", metavar="URL|FILE.ndjson|FOLDER")
    load.add_argument("key", nargs="?", default="", metavar="KEY", help="or @FILE that has it")
    load.add_argument(
        "--addresses", metavar="FILE", help="ask for these, one a line; - is standard input"
    )
    load.add_argument("--listed", action="store_true", help="ask for those that the source lists")
    load.add_argument("--again", action="store_true", help="ask again for those not verified")
    load.add_argument(
        "--rate", type=_rate, default=DEFAULT_RATE, help="requests a second, 2 by default"
    )
    text = "compile verified contracts again whose source map is not known"
    arguments.add_command(actions, "source-maps", text, SOURCE_MAPS, add_source_maps)
    text = "write every verified contract to a file that `import` accepts"
    export = arguments.add_command(actions, "export", text, run=export_contracts)
    export.add_argument("file", type=Path, metavar="FILE.ndjson")


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0.01 <= rate <= 100:
        raise argparse.ArgumentTypeError("must be a number from 0.01 to 100")
    return rate


@contextmanager
def _resumable(settings: Settings) -> Iterator[Database]:
    """Yield the database for work that the same command goes on with after Ctrl-C."""
    try:
        with startup.connected(settings, NAME) as database:
            yield database
    except KeyboardInterrupt:
        raise ScanError("interrupted; the same command goes on") from None


def import_contracts(settings: Settings, options: argparse.Namespace) -> int:
    is_export = options.source == PARQUET
    if is_export and (options.addresses or options.listed or options.key):
        raise InvalidParameter("--from parquet takes a folder, and of the options --again alone")
    with _resumable(settings if is_export else startup.settings_with_node(settings)) as database:
        chain_id = database.value("queries/chain_get_id")
        if chain_id is None:
            raise ScanError("no block is indexed yet")
        if is_export:
            try:
                from scan.extensions.contract_details.contract_import import exported_claims
            except ImportError as error:
                raise ScanError(f"{error.name} is not installed: {install_extra('bulk')}") from None
            folder = Path(options.input)
            exported_claims.import_folder(database, folder, int(chain_id), again=options.again)
        else:
            _import_records(settings, database, options, chain_id)
    return 0


def _import_records(
    settings: Settings, database: Database, options: argparse.Namespace, chain_id: str
) -> None:
    source = _source(settings, options, chain_id) if options.source else None
    name = source.name if source else f"file {Path(options.input).name}"
    verifier = importer.make_verifier(settings, database)
    index = importer.make_index(settings, database)
    contracts = importer.ContractImport(verifier, name, index)
    if options.again:
        contracts.forget()
    try:
        if source is None:
            answers = contracts.of_records(importer.read_records(Path(options.input)))
        elif options.addresses:
            answers = contracts.of_addresses(source, _lines(options.addresses))
        elif options.listed:
            answers = contracts.of_addresses(source, source.addresses())
        else:
            answers = contracts.of_index(source)
        _report(chain(contracts.of_claims(), answers), name)
    except OSError as error:
        raise ScanError(f"{error.filename}: {error.strerror}") from None


def add_source_maps(settings: Settings, _options: argparse.Namespace) -> int:
    settings = startup.settings_with_node(settings)
    with _resumable(settings) as database:
        counts: Counter[bool] = Counter()
        verifier = importer.make_verifier(settings, database)
        unmapped = importer.verified_rows(database, is_unmapped=True)
        for row in tqdm(unmapped, unit=" contracts", disable=None, leave=False):
            reason = _add_map(verifier, row)
            counts[reason is None] += 1
            if reason is not None:
                print_lines(f"{to_hex(bytes(row[0]))}: {reason}")
    print_lines(f"{counts[True]} source maps added, {counts[False]} contracts left without one")
    return 0


def _source(settings: Settings, options: argparse.Namespace, chain_id: str) -> Source:
    if not _URL.fullmatch(options.input):
        raise InvalidParameter("the URL must be http or https, without user, query and fragment")
    client = source_client.SourceClient(options.input, options.rate, settings.ca_bundle)
    if options.source == "etherscan":
        return Etherscan(client, _key(options.key), chain_id)
    return Blockscout(client) if options.source == "blockscout" else Sourcify(client, chain_id)


def _key(text: str) -> str:
    """Return the key, from a file if `text` is @FILE: other users of the machine see a command's
    arguments."""
    try:
        return Path(text[1:]).read_text().strip() if text.startswith("@") else text
    except (OSError, UnicodeDecodeError):
        raise ScanError(f"{text[1:]}: not a file with a key") from None


def _lines(path: str) -> Iterator[str]:
    file = sys.stdin if path == "-" else Path(path).open(encoding="utf-8")  # noqa: SIM115
    with file:
        for line in file:
            if text := line.strip():
                yield text


def _report(answers: Iterator[importer.Answer], name: str) -> None:
    """Print a line for each contract that is not verified, and the number of each outcome."""
    counts: Counter[str] = Counter()
    matches: Counter[str] = Counter()
    # With `disable=None` the bar is shown only on a terminal.
    for answer in tqdm(answers, unit=" contracts", disable=None, leave=False):
        counts[answer.outcome] += 1
        claimed = answer.record.match if answer.record else None
        if answer.outcome == importer.VERIFIED:
            matches[f"claimed {claimed or 'verified'}, here {answer.match}"] += 1
        elif answer.outcome != importer.ABSENT:
            print_lines(f"{to_hex(answer.address)}: {answer.outcome}: {answer.reason}")
        if counts.total() % REPORT_EVERY == 0 and not sys.stderr.isatty():
            print_lines(f"{counts.total()} contracts, {counts[importer.VERIFIED]} verified")
    kinds = (
        (importer.VERIFIED, "verified here"),
        (contract_page.CLAIMED, "kept as claims"),
        (importer.DIFFERENT, "that do not match"),
        (importer.ABSENT, "not verified there"),
        (importer.NOT_INDEXED, "not indexed here"),
    )
    print_lines(f"{name}: " + ", ".join(f"{counts[kind]} {text}" for kind, text in kinds))
    print_lines(*(f"  {text}: {count}" for text, count in sorted(matches.items())))


def export_contracts(settings: Settings, options: argparse.Namespace) -> int:
    with (
        file_errors(options.file),
        startup.connected(settings, NAME) as database,
        whole_file(options.file) as file,
    ):
        count = importer.write_records(database, file, database.value("queries/chain_get_id"))
    print_lines(f"{count} contracts written")
    return 0
