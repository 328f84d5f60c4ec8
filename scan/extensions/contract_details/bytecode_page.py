"""The tab of a contract with its bytecode."""

from flask import Blueprint, Response

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.extensions.contract_details import bytecode
from scan.extensions.contract_details.bytecode import Bytecode
from scan.extensions.contract_details.disassembly import disassemble
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.address_head import address_head
from scan.pages.records import address_of, names_of
from scan.pages.site import HEADERS, page
from scan.verification.bytecode_metadata import compiler_version

# A text has all of them: those of the largest contracts take 700 kB.
MAX_SHOWN_INSTRUCTIONS = 1_000
MAX_SHOWN_BYTES = 4_096

blueprint = Blueprint("pages_bytecode", __name__)


def bytecode_page(key: bytes) -> Response:
    held, missing = _bytecode(key)
    code = held.code[: held.instructions_end] if held else b""
    instructions = list(disassemble(code, MAX_SHOWN_INSTRUCTIONS + 1))
    related = [held.delegate, held.similar_to] if held else []
    return page(
        "bytecode.html",
        **address_head(key, "bytecode"),
        names=names_of([], to_hex(key), *(to_hex(other) for other in related if other)),
        held=held,
        missing=missing,
        compiler=compiler_version(held.metadata) if held else None,
        instructions=instructions[:MAX_SHOWN_INSTRUCTIONS],
        is_cut=len(instructions) > MAX_SHOWN_INSTRUCTIONS,
        most_bytes=MAX_SHOWN_BYTES,
    )


def _bytecode(key: bytes) -> tuple[Bytecode | None, str]:
    """Return the bytecode, or the reason why there is none."""
    try:
        return bytecode.get(reader(), key), ""
    except (NotFound, UpstreamFailed, Unavailable) as error:
        return None, error.message


@blueprint.get("/address/<address>/disassembly")
def get_disassembly(address: str) -> Response:
    """Return all instructions of a contract as text."""
    held = bytecode.get(reader(), address_of(address))
    instructions = disassemble(held.code[: held.instructions_end])
    return _text_response("".join(f"{instruction.text()}\n" for instruction in instructions))


@blueprint.get("/address/<address>/bytecode")
def get_bytecode(address: str) -> Response:
    """Return the bytecode of a contract as hex."""
    return _text_response(to_hex(bytecode.get(reader(), address_of(address)).code))


def _text_response(text: str) -> Response:
    reader().do_not_cache()  # large ones would evict everything else
    return Response(text, headers={**dict(HEADERS), "Content-Type": "text/plain; charset=utf-8"})
