"""What compilers say of verified contracts besides their ABIs, stored when they are verified: where
the code, and the code that creates it, is in the sources; the layout of the storage; the functions
that calls run. A code has one row of compiled_sources."""

from functools import partial

import orjson

from scan.database.connection import Database
from scan.extensions.compiled_sources import compiler_layouts, creation_codes, source_maps
from scan.verification.bytecode_comparison import linked_code
from scan.verification.contract_match import Match
from scan.verification.hooks import CompilerFindings, Store
from scan.verification.submission_compilations import Compilations


def read(compilations: Compilations, match: Match) -> Store:
    """Return what stores a match's findings. The layout of the storage takes a compilation more."""
    raw_layout = match.contract.output.get("storageLayout")
    named_layout, functions = compiler_layouts.add_names(raw_layout, compilations, match)
    layout = compiler_layouts.packed(named_layout) or compiler_layouts.packed(raw_layout)
    return partial(_store, match, layout, compiler_layouts.packed(functions))


def _store(
    match: Match,
    layout: bytes | None,
    functions: bytes | None,
    database: Database,
    address: bytes,
    code_hash: bytes,
) -> bool:
    """Store the findings in the place of what was known of the code, and return whether they have a
    source map."""
    evm, files = match.contract.output["evm"], orjson.dumps([*match.contract.files.items()])
    source_map = source_maps.packed(evm["deployedBytecode"].get("sourceMap"))
    creation_map = source_maps.packed(evm["bytecode"].get("sourceMap"))
    creation = creation_map and creation_codes.creation_code_of(linked_code(evm["bytecode"]))
    links = [[*link] for link in creation.links] if creation else ()
    with database.transaction() as tx:
        tx.execute(
            "verification/compiled_sources_put",
            address=address,
            code_hash=code_hash,
            files=files.decode(),
            source_map=source_map,
            layout=layout,
            functions=functions,
            creation_map=creation_map if creation else None,
            creation_size=creation.size if creation else None,
            search_hash=creation.search_hash if creation else None,
            masked_hash=creation.masked_hash if creation else None,
            links=orjson.dumps(links).decode(),
        )
    return source_map is not None


HOOKS = CompilerFindings(version=1, read=read)
