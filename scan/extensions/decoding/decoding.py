"""Calldata, results and logs decoded to methods and events, by the rules of abi_decoding.py.

Lists of transactions have the names of their methods from here, and an extension may say what
calls and messages to sign are for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

import orjson

from scan.api.renamed_fields import recording
from scan.contracts import abi_decoding, abi_json, revert_reasons
from scan.contracts.abi import AbiError
from scan.contracts.abi_decoding import DecodingBudget, functions_of
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum import text_cleaning
from scan.ethereum.stored_blocks import TransactionLog
from scan.extensions.decoding.contract_abis import (
    NO_CONTRACT,
    Contract,
    ContractAbis,
    Emitter,
    block_of,
)
from scan.hex import data, to_hex
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

recorded = recording(__file__)

LEAST_ERROR_BYTES = 96  # of a log's data that has an error: a place, a size and a selector
MAX_FREE_ARGUMENTS = 8  # of an event whose indexed arguments are not known


def decode_call(
    calldata: bytes,
    abis: Sequence[abi_decoding.AbiIndex] = (),
    token_type: str | None = None,
    *,
    budget: abi_decoding.DecodingBudget | None = None,
) -> abi_decoding.Decoded | None:
    """Return the called method; None where no ABI decodes it. `token_type` selects among standards
    that share a signature."""
    if len(calldata) < 4:
        return None
    entries = abi_decoding.functions_of(calldata[:4], abis, token_type)
    fitting = (abi_decoding.values_of_call(calldata, entry, budget) for entry in entries)
    return next((fit.decoded() for fit in fitting if fit is not None), None)


def method_of(
    calldata: bytes,
    contract: Contract,
    imported: Mapping[bytes, Sequence[str]],
    budget: DecodingBudget,
) -> abi_decoding.Decoded | None:
    """Return the called method by the contract's ABIs or standards, or else by signatures that are
    imported; or the contract's function without a name that ran. Where its implementation changed
    in the block, it has all arguments that it may."""
    readings = [
        decode_call(calldata, of.abis, of.token_type, budget=budget)
        for of in contract.readings or (contract,)
    ]
    method = _one_of(readings)
    if method is None and len(calldata) >= 4:
        texts = imported.get(calldata[:4], ())
        method = abi_decoding.decode_call_by(calldata, texts, budget=budget)
    # What a proxy passes on, another contract's function may take.
    has_own = method is None and not contract.delegation.kind
    return abi_decoding.unnamed_function(calldata, contract.abis) if has_own else method


def _one_of(readings: Iterable[abi_decoding.Decoded | None]) -> abi_decoding.Decoded | None:
    """Return what ABIs of which one ran say, with the arguments of each where they differ; None
    where they are different functions with one selector."""
    known = [reading for reading in readings if reading is not None]
    if not known or all(reading == known[0] for reading in known):
        return known[0] if known else None
    is_one = len({reading.signature for reading in known}) == 1
    return abi_decoding.one_of(known) if is_one else None


def event_of(
    log: TransactionLog,
    contract: Contract | None,
    imported: Mapping[bytes, Sequence[str]],
    budget: DecodingBudget,
    others: Sequence[abi_decoding.AbiIndex] = (),
) -> abi_decoding.Decoded | None:
    """Return a log's event, as method_of() does, with the errors in its bytes by the ABIs of the
    contract and of `others` that took part."""
    event = decode_event(log, contract, budget)
    if event is None and log.topics and (texts := imported.get(log.topics[0][:4], ())):
        event = decode_log_by(log.topics, log.data, texts, budget=budget)
    if event is None or len(log.data) < LEAST_ERROR_BYTES:
        return event
    abis = [*(contract or NO_CONTRACT).abis, *others]
    return revert_reasons.InnerErrors(abis, imported, budget).within(event)


def event_by_signature(
    log: TransactionLog, event: abi_decoding.Decoded, budget: DecodingBudget
) -> abi_decoding.Decoded | None:
    """Return a log's event without the names of arguments, of which it is not proven that the code
    which emitted it has them: the first topic proves the signature. Where that does not tell which
    arguments are indexed, None. With all arguments that it may have, and of standards, as it is."""
    if event.alternatives or event.source not in ("verified", "build"):
        return event
    single = decode_log_by(log.topics, log.data, [event.signature], budget=budget)
    return single and single._replace(source=event.source)


def decode_event(
    log: TransactionLog, contract: Contract | None, budget: DecodingBudget
) -> abi_decoding.Decoded | None:
    """Decode a log by the contract's ABIs, or else by standard ABIs."""
    contract = contract or NO_CONTRACT
    return _one_of(
        decode_log(log.topics, log.data, of.abis, of.token_type, budget=budget)
        for of in contract.readings or (contract,)
    )


def decode_result(
    function: abi_decoding.Entry, returned: bytes, budget: DecodingBudget
) -> Sequence[abi_decoding.Argument] | None:
    """Return the values that a function returned; None where its ABI has no outputs, or others."""
    if function.outputs is None or not budget.allows(len(returned)):
        return None
    try:
        values = abi_decoding.decoded_values(function.outputs, returned, strict=False)
    except (AbiError, OverflowError):
        return None
    return [
        abi_decoding.Argument(name, type_.name, abi_json.render(type_, value))
        for name, type_, value in zip(function.output_names, function.outputs, values, strict=True)
    ]


def decode_log(
    topics: Sequence[bytes],
    data: bytes,
    abis: Sequence[abi_decoding.AbiIndex] = (),
    token_type: str | None = None,
    *,
    budget: abi_decoding.DecodingBudget | None = None,
) -> abi_decoding.Decoded | None:
    """Return the event of a log, as decode_call() does; with all arguments that it may have where
    ABIs declare it with other indexed arguments.

    An anonymous event is returned only where at most MAX_ALTERNATIVES of the ABIs have that number
    of topics and that size, and the data is the encoding of events of one signature.
    """
    for entries in abi_decoding.events_of(topics[0], abis, token_type) if topics else ():
        if (event := named_event(topics, data, entries, budget)) is not None:
            return event
    forms = ((len(topics), len(data)), (len(topics), None))
    anonymous = [entry for abi in abis for form in forms for entry in abi.anonymous.get(form, ())]
    return anonymous_event(topics, data, anonymous, budget)


def named_event(
    topics: Sequence[bytes],
    data: bytes,
    entries: Iterable[abi_decoding.Entry],
    budget: DecodingBudget | None = None,
) -> abi_decoding.Decoded | None:
    """Decode a log whose first topic is that of these events, as decode_log() does."""
    ways: dict[tuple[bool, ...], abi_decoding.Entry] = {}
    for entry in entries:
        ways.setdefault(entry.indexed, entry)
    for strict in (True, False) if len(ways) > 1 else (False,):
        fits = [_values_of_log(topics[1:], data, e, budget, strict=strict) for e in ways.values()]
        if readings := [fit.decoded() for fit in fits if fit is not None]:
            return abi_decoding.one_of(readings)
    return None


def anonymous_event(
    topics: Sequence[bytes],
    data: bytes,
    entries: Sequence[abi_decoding.Entry],
    budget: DecodingBudget | None = None,
) -> abi_decoding.Decoded | None:
    """Decode a log by the anonymous events that it may be, as decode_log() does."""
    if len(entries) > abi_decoding.MAX_ALTERNATIVES:
        return None
    fits = [_values_of_log(topics, data, entry, budget, strict=True) for entry in entries]
    readings = [fit.decoded() for fit in fits if fit is not None]
    return abi_decoding.one_of(readings) if len({r.signature for r in readings}) == 1 else None


def decode_log_by(
    topics: Sequence[bytes],
    data: bytes,
    signatures: Iterable[str],
    *,
    budget: abi_decoding.DecodingBudget | None = None,
) -> abi_decoding.Decoded | None:
    """Decode a log as decode_call_by() does. A signature does not say which arguments are indexed,
    so all choices are tried, of which only one may fit."""
    if not topics or (budget is not None and budget.is_exceeded):
        return None
    index = abi_decoding.index_abi(abi_decoding.entries_of("event", signatures), "imported")
    ways = (way for entry in index.events.get(topics[0], ()) for way in _ways(entry, len(topics)))
    fits = [_values_of_log(topics[1:], data, way, budget, strict=True) for way in ways]
    single = abi_decoding.only(fits)
    if single is not None:
        return single.decoded()
    return abi_decoding.only(d for d in (fit.decoded() for fit in fits if fit) if _is_plausible(d))


def _ways(entry: abi_decoding.Entry, topics: int) -> Iterator[abi_decoding.Entry]:
    """Yield the entry with every choice of indexed arguments for this number of topics."""
    count = len(entry.types)
    if count <= MAX_FREE_ARGUMENTS or topics - 1 in (0, count):
        for chosen in combinations(range(count), topics - 1):
            yield entry._replace(indexed=tuple(index in chosen for index in range(count)))


def _is_plausible(decoded: abi_decoding.Decoded) -> bool:
    """Return whether the integers are unlike addresses, and the addresses unlike small numbers."""
    return not any(
        (argument.type == "address" and 0 < int(argument.value, 16) < 2**64)
        or (argument.type == "uint256" and 2**96 <= int(argument.value) < 2**160)
        for argument in decoded.arguments
        if not argument.hashed
    )


def _values_of_log(
    topics: Sequence[bytes],
    data: bytes,
    entry: abi_decoding.Entry,
    budget: abi_decoding.DecodingBudget | None,
    *,
    strict: bool = False,
) -> abi_decoding.Fit | None:
    """Return the values of a log's arguments; None where they do not fit the entry. `topics` are
    those of indexed arguments, without the event's own."""
    if len(topics) != sum(entry.indexed):
        return None
    if budget is not None and not budget.allows(len(data) + 32 * len(topics)):
        return None
    types = zip(entry.types, entry.indexed, strict=True)
    indexed = [abi_decoding.topic_type(type_) for type_, is_topic in types if is_topic]
    try:
        words = iter(abi_decoding.decoded_values(indexed, b"".join(topics), strict=strict))
        plain = iter(
            abi_decoding.decoded_values(abi_decoding.plain_types(entry), data, strict=strict)
        )
    except (AbiError, OverflowError):
        return None
    values = [next(words) if is_topic else next(plain) for is_topic in entry.indexed]
    return abi_decoding.Fit(entry, values)


Record = dict[str, Any]
Called = Mapping[Emitter, Contract]  # of called_contracts()


def contexts(reader: Reader, hashes: Iterable[str]) -> dict[str, Record]:
    """Return the places, called functions and base fees of transactions, by hash.

    Raises Unavailable where a transaction is missing, since a reorganisation has removed it.
    """
    distinct = [*dict.fromkeys(hashes)]
    if not distinct:
        return {}
    keys = [data(transaction_hash) for transaction_hash in distinct]
    (rows,) = reader.row("queries/transactions_list_contexts", hashes=keys)
    context_of = cast("dict[str, Record]", orjson.loads(rows))
    if len(context_of) < len(distinct):
        raise Unavailable("The chain is being reorganised.", retry_after_s=1)
    return context_of


def add_calls(reader: Reader, transfers: Sequence[Record]) -> None:
    """Set `call` of transfers: the call that their transaction is, with its `method`; of none where
    a block of theirs has just been replaced."""
    try:
        calls = contexts(reader, (transfer["transactionHash"] for transfer in transfers))
    except Unavailable:
        reader.do_not_cache()
        return
    add_methods(reader, calls.values())
    for transfer in transfers:
        call = calls[transfer["transactionHash"]]
        # A transaction without a recipient that moved tokens has created a contract.
        transfer["call"] = {**call, "contractAddress": call["toAddress"] or "", "status": True}


def inputs(reader: Reader, records: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the inputs of transactions by hash; none where one is not stored, and the node does
    not answer."""
    keys = [indexed(record) for record in records]
    try:
        read = reader.sources.transaction_contents.transactions(
            reader.node, keys, with_receipts=False
        )
    except (UpstreamFailed, Unavailable):
        reader.do_not_cache()
        return {}
    return {key.hash: read[key.hash].input for key in keys}


def _called(transaction: Mapping[str, Any]) -> Emitter:
    return Emitter(data(transaction["toAddress"]), block_of(transaction))


def called_contracts(reader: Reader, transactions: Iterable[Mapping[str, Any]]) -> Called:
    """Return what stood at `toAddress` of indexed transactions at their block and index."""
    called = {_called(sent) for sent in transactions if sent["toAddress"]}
    return reader.sources.get(ContractAbis).contracts(called, DecodingBudget())


def called_code(
    reader: Reader, transactions: Sequence[Mapping[str, Any]], contracts: Called | None = None
) -> list[bool]:
    """Return which of indexed transactions called code, by their called_contracts(), where those
    have been read. Where that is not known, those with data count as calls."""
    called = [_called(sent) if sent["toAddress"] else None for sent in transactions]
    if contracts is None:
        code = reader.sources.get(ContractAbis).code_at({*filter(None, called)})
    else:
        code = {emitter: contract.has_code for emitter, contract in contracts.items()}
    has_code = [emitter is not None and code[emitter] for emitter in called]
    return [
        bool(sent["methodId"]) if known is None else known
        for sent, known in zip(transactions, has_code, strict=True)
    ]


def add_methods(
    reader: Reader,
    transactions: Iterable[Record],
    contracts: Called | None = None,
    *,
    are_calls: bool = False,
) -> None:
    """Set `method` of those with data: the name from an ABI or a single imported signature, else
    the selector; None where no code ran, unless logs show that they `are_calls`. Where the selector
    is the beginning of a text to an address without code, it is `memo`.

    Only the node knows the implementation of a proxy by its state: the name is then that of
    verified contracts, where all with this selector agree, and a standard that has it.
    """
    calls = [
        (call, _called(call), data(call["methodId"])) for call in transactions if call["methodId"]
    ]
    abis = reader.sources.get(ContractAbis)
    if contracts is None:
        contracts = called_contracts(reader, [call for call, *_ in calls])
    unnamed = []
    for call, emitter, selector in calls:
        contract = contracts.get(emitter, NO_CONTRACT)
        function = next(functions_of(selector, contract.abis, contract.token_type), None)
        if contract.has_code is False and not are_calls:
            call["method"] = None
            _add_memo(call, selector)
        elif function is None or (contract.delegates and _may_be_another(function, contract)):
            unnamed.append((call, selector, contract, function))
        else:
            call["method"] = function.name
    verified = abis.of_verified_contracts({s for _, s, c, _ in unnamed if c.delegates})
    imported = abis.imported({s for _, s, c, _ in unnamed if not (c.delegates and s in verified)})
    for call, selector, contract, function in unnamed:
        signatures = (contract.delegates and verified.get(selector)) or imported.get(selector, [])
        if function is not None:
            signatures = [*{function.signature, *(verified.get(selector) or ())}]
        only = signatures[0].partition("(")[0] if len(signatures) == 1 else None
        if not (signatures or contract.delegation.kind):
            unnamed_one = abi_decoding.unnamed_function(selector, contract.abis)
            only = unnamed_one and unnamed_one.name
        call["method"] = only or to_hex(selector)
        if only is None and not contract.has_code:
            _add_memo(call, selector)


def _may_be_another(function: abi_decoding.Entry, contract: Contract) -> bool:
    """Return whether the implementation of a proxy may have another function with the selector of
    one that standards have: not that of a token of their type, whose events agree."""
    of_token = abi_decoding.OF_TOKEN_TYPE.get(contract.token_type or "")
    return function.standard is not None and function.standard != of_token


def _add_memo(transaction: Record, selector: bytes) -> None:
    text = text_cleaning.text_start(selector, len(selector))
    if text:
        transaction["memo"] = f"{text}…"
