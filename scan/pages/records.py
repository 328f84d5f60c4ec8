"""Lists of records for pages: names of the addresses in them, links that name a row by its id,
where the page begins wherever the row has moved, and decoded arguments as people read them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from flask import request

from scan import parameters
from scan.contracts.abi_decoding import Argument, Decoded
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.pages import formatting
from scan.pages.formatting import amount, as_json, grouped, is_unlimited, short_amount
from scan.queries import addresses, blocks, cursors, transactions
from scan.queries.addresses import KNOWN_ADDRESSES, AddressNames

MAX_NAMED = 500  # addresses per page that are shown by name
# Fields of records that are addresses, those of user operations, authorizations, contracts and
# histories among them.
ADDRESS_FIELDS = frozenset(
    """
    miner fromAddress toAddress contractAddress tokenAddress pairAddress
    maker tokenIn tokenOut address owner sender
    paymaster bundler entryPoint factory authority delegate creator counterparty
    """.split()
)

NAMELESS = dict.fromkeys(("name", "label", "token", "contract", "pool", "known"))

Record = dict[str, Any]
Names = Mapping[str, Any]


# Scan's tabs by their titles and by Blockscout's names; of several, the first that a page has, and
# where it has none of them, or Scan has no such tab, its first one.
OTHER_TABS = {
    **dict.fromkeys("index overview all validated state blobs blob_txs asset_flows".split(), ()),
    **dict.fromkeys("blocks_validated withdrawals account_history user_ops".split(), ()),
    **dict.fromkeys("nfts inventory tokens_nfts tokens_nfts_list".split(), ("items",)),
    **dict.fromkeys("contract_code read_contract write_contract".split(), ("contract",)),
    **dict.fromkeys("read_write_contract read_proxy write_proxy".split(), ("contract",)),
    "tokens_nfts_collection": ("items",),
    "balance": ("chart",),
    "authorizations": ("delegations",),
    "txs": ("transactions",),
    "token_transfers": ("transfers", "overview"),
    "internal_txns": ("internal",),
    "internal": ("internal", "calls"),
    "raw_trace": ("calls",),
    "coin_balance_history": ("chart",),
    "tokens_erc20": ("tokens",),
    "logs": ("events",),
}


def requested_tab(tabs: Sequence[str]) -> str:
    """Return the requested tab, the first by default, also by its title or Blockscout's name;
    raises InvalidParameter for an unknown one."""
    tab = request.args.get("tab", tabs[0])
    if tab not in tabs and tab in OTHER_TABS:
        return next((name for name in OTHER_TABS[tab] if name in tabs), tabs[0])
    reason = f"This page has no tab “{tab[:50]}”. It has: {', '.join(tabs)}."
    parameters.require(tab in tabs, "tab", reason)
    return tab


def names_of(records: Iterable[Record], *more: str | None) -> Names:
    """Return names and labels of all addresses in records, in what they moved, and of `more`. Links
    show `name`: the operator's label, else a pool's pair, else a token's own name, else that of its
    deployment, else that of the verified source, else that of KNOWN_ADDRESSES. Beside addresses
    without one they show `claim`, a name that the address has chosen."""
    records = [*records]
    of_records = [record[field] for record in records for field in ADDRESS_FIELDS & record.keys()]
    changes = [change for record in records if "moved" in record for change in record["moved"]]
    of_changes = [c[field] for c in changes for field in ("tokenAddress", "counterparty")]
    distinct = {address for address in (*of_records, *of_changes, *more) if address}
    keys = [bytes.fromhex(address[2:]) for address in sorted(distinct)[:MAX_NAMED]]
    names = dict(orjson.loads(addresses.names(reader(), keys)))
    for name in names.values():
        token = name["token"] or {}
        for key in ("name", "symbol"):
            if formatting.is_blank(token.get(key)) and key in token:
                token[key] = ""  # its address identifies it better
        pair = formatting.pair_name(name["pool"]) if name["pool"] else None
        own = name["label"] or pair or token.get("name")
        name["name"] = own or name["known"] or name["contract"]
    for known in KNOWN_ADDRESSES.keys() & map(to_hex, keys):
        indexed = names.get(known, NAMELESS)
        names[known] = {**indexed, "name": indexed["name"] or KNOWN_ADDRESSES[known]}
    unnamed = [key for key in keys if not names.get(to_hex(key), {}).get("name")]
    for address, claim in reader().sources.get(AddressNames).in_list(reader(), unnamed).items():
        names_of_address = names.get(to_hex(address), NAMELESS)
        names[to_hex(address)] = {**names_of_address, "claim": claim}
    return names


def suggestions(records: Iterable[Record], names: Names) -> tuple[dict[str, str], dict[str, str]]:
    """Return the methods and the tokens of a list's rows, which its form suggests."""
    methods, tokens = {}, {}
    for record in records:
        if "methodId" in record and record.get("method"):
            methods[record["methodId"]] = record["method"]
        if token := names.get(record.get("tokenAddress", ""), NAMELESS)["token"]:
            tokens[record["tokenAddress"]] = token["symbol"] or token["name"] or ""
    return methods, tokens


def finality_of(number: int, confirmations: int) -> str:
    """Return `finalized`, `safe` or `not final` for a block; empty where the node's chain has no
    such blocks, or the node does not answer."""
    tag = blocks.finality_of(reader(), number, confirmations) or ""
    return "not final" if tag == "latest" else tag


def hash_of(text: str) -> bytes:
    """Return a hash in a path; raises InvalidParameter with a message for readers of pages."""
    try:
        return parameters.hash32(text)
    except InvalidParameter:
        reason = "Not a hash: a hash is 0x followed by 64 hex digits."
        raise InvalidParameter(reason, field="hash") from None


def address_of(text: str, parse: Callable[[str], bytes] = parameters.address) -> bytes:
    """Return an address in a path; raises InvalidParameter with a message for readers of pages."""
    try:
        return parse(text)
    except InvalidParameter:
        reason = "Not an address: an address is 0x followed by 40 hex digits."
        raise InvalidParameter(reason, field="address") from None


# Functions, events and errors of ERC-20 with amounts in the token's units, by their positions.
TOKEN_AMOUNTS = {
    "transfer(address,uint256)": (1,),
    "transferFrom(address,address,uint256)": (2,),
    "approve(address,uint256)": (1,),
    "increaseAllowance(address,uint256)": (1,),
    "decreaseAllowance(address,uint256)": (1,),
    "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)": (2,),
    "mint(address,uint256)": (1,),
    "burn(uint256)": (0,),
    "burnFrom(address,uint256)": (1,),
    "Transfer(address,address,uint256)": (2,),
    "Approval(address,address,uint256)": (2,),
    "Deposit(address,uint256)": (1,),
    "Withdrawal(address,uint256)": (1,),
    "withdraw(uint256)": (0,),
    "ERC20InsufficientBalance(address,uint256,uint256)": (1, 2),
    "ERC20InsufficientAllowance(address,uint256,uint256)": (1, 2),
}
# Those of tokens that wrap the coin: of another contract they may be anything.
OF_WRAPPERS = {"Deposit(address,uint256)", "Withdrawal(address,uint256)", "withdraw(uint256)"}
# Functions that return such an amount; a number from any other function may be anything.
ERC20_RESULTS = {
    "balanceOf(address)": (0,),
    "totalSupply()": (0,),
    "allowance(address,address)": (0,),
}
ALLOWANCES = ("approve(", "Approval(", "permit(", "increaseAllowance(", "allowance(")
FEWEST_BITS_OF_MAX = 96  # the largest number of a smaller type may be a plain value
FIRST_TIME_S, LAST_TIME_S = 1_230_768_000, 4_102_444_800  # 2009 and 2100
LEAST_GROUPED = 10_000
MAX_DIGITS = 40

_INTEGER = re.compile(r"(u?)int([0-9]{1,3})\Z")
_TIME = re.compile(
    r"(deadline|timestamp|expiry|expiration|expires(at)?|valid(until|after|before)"
    r"|(start|end|unlock)time)\Z"
)
_IDENTIFIER = re.compile(r"(ids?|nonce|salt|hash|root)\Z")


class ShownValue(NamedTuple):
    """An argument's value; `raw` is the number on the chain, None where `text` has its digits."""

    text: str
    raw: str | None = None
    is_amount: bool = False


def shown_value(
    argument: Argument,
    position: int,
    signature: str = "",
    token: Mapping[str, Any] | None = None,
    *,
    is_result: bool = False,
) -> ShownValue:
    """Return the value of the argument at a position; `token` is the record of the contract whose
    function, event or error it is, where that is a token."""
    value = argument.value
    integer = _INTEGER.match(argument.type)
    if not isinstance(value, str) or integer is None:
        return ShownValue(value if isinstance(value, str) else as_json(value))
    bits = int(integer[2])
    number, is_unsigned = int(value), bool(integer[1])
    amounts = ERC20_RESULTS if is_result else TOKEN_AMOUNTS
    is_amount = (
        token is not None
        and token["type"] == "BEP20"
        and position in amounts.get(signature, ())
        and (signature not in OF_WRAPPERS or token.get("wraps"))
    )
    is_allowance = signature.startswith(ALLOWANCES)
    is_largest = is_unsigned and bits >= FEWEST_BITS_OF_MAX and number == 2**bits - 1
    if is_allowance and (is_largest or (is_amount and is_unlimited(number))):
        return ShownValue("unlimited", value)
    if is_largest:
        return ShownValue(f"largest {argument.type}", value)
    if is_amount and token and token["decimals"]:
        text = amount(number, token["decimals"])
        short = text if len(text) <= MAX_DIGITS else short_amount(number, token["decimals"])
        return ShownValue(short, value, is_amount=True)
    name = argument.name.replace("_", "").lower()
    if FIRST_TIME_S <= number < LAST_TIME_S and _TIME.search(name):
        return ShownValue(f"{datetime.fromtimestamp(number, UTC):%Y-%m-%d %H:%M:%S} UTC", value)
    if abs(number) < LEAST_GROUPED or _IDENTIFIER.search(name):
        return ShownValue(value)
    if len(value) > MAX_DIGITS:
        return ShownValue(short_amount(number, 0), value)
    return ShownValue(grouped(number), value)


def addresses_in(decoded: Decoded | None) -> Iterator[str]:
    """Yield the addresses among the arguments of a call or an event."""
    for argument in (a for r in decoded.readings for a in r.arguments) if decoded else ():
        if argument.type == "address" and not argument.hashed and argument.value is not None:
            yield argument.value
        elif argument.type.startswith("address["):
            yield from listed_values(argument)


MOST_LISTED = 50  # of the values of an array; each link takes 300 bytes of a page


def listed_values(argument: Argument) -> Sequence[str]:
    """Return the first values of an array of simple values; none of another argument."""
    values = argument.value
    if argument.hashed or argument.type.count("[") != 1 or not isinstance(values, list):
        return ()
    first = values[:MOST_LISTED]
    return first if all(isinstance(value, str) for value in first) else ()


# Lists whose rows have such ids, by what these begin with (row_id() of tables.html).
ENTITIES = {
    "tx": "transactions",
    "transfer": "token_transfers",
    "trade": "dex_trades",
    "internal": "internal_transfers",
}
# How many numbers follow: that of a log or an internal transfer, and that in a batch.
_NUMBERS = {"tx": (0,), "transfer": (1, 2), "trade": (1,), "internal": (1,)}
_ID = re.compile(r"([a-z]+)(?:-([0-9]{1,9}))?(?:-([0-9]{1,9}))?-([0-9a-f]{64})", re.ASCII)


def position_of(row: str, entity: str, direction: str) -> tuple[int]:
    """Return the position in an entity's lists after which the row with this id comes first.

    Raises InvalidParameter for another list's id, and NotFound where its transaction is not
    indexed."""
    parsed = _ID.fullmatch(row)
    kind, index, batch_index, transaction_hash = parsed.groups() if parsed else ("",) * 4
    numbers = [number for number in (index, batch_index) if number is not None]
    is_right = ENTITIES.get(kind) == entity and len(numbers) in _NUMBERS[kind]
    parameters.require(is_right, "row", "row must be the id of a row of this list.")
    text = transactions.get(reader(), bytes.fromhex(transaction_hash))
    record = orjson.loads(reader().indexed(text, "The transaction of this row is not indexed."))
    ordinal = cursors.ordinal_at(
        reader(),
        entity,
        record["blockNumber"],
        record["transactionIndex"] if index is None else int(index),
        transaction_index=record["transactionIndex"],
        batch_index=int(batch_index or 0),
    )
    return (ordinal + 1 if direction == "desc" else ordinal - 1,)
