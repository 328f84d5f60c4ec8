"""Results of calls to tokens and pools, decoded from hostile bytes: words, names, types.
Pure.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_NAME = 255
MAX_SYMBOL = 50
MAX_TEXT_BYTES = 64 * 1024  # kept of a returned string
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY = "0x06fdde03", "0x95d89b41", "0x313ce567", "0x18160ddd"
TOKEN0, TOKEN1, FACTORY, FEE = "0x0dfe1681", "0xd21220a7", "0xc45a0155", "0xddca3f43"
STABLE = "0x22be3de1"
ERC165, ERC165_INVALID = "01ffc9a7", "ffffffff"
ERC721, ERC1155 = "80ac58cd", "d9b67a26"


def supports_interface(interface_id: str) -> str:
    """Return call data of EIP-165's supportsInterface(bytes4)."""
    return "0x01ffc9a7" + interface_id.ljust(64, "0")


def balance_of(holder: bytes, item: int | None = None) -> str:
    """Return call data of balanceOf(address), or of balanceOf(address,uint256) for an item."""
    if item is None:
        return "0x70a08231" + holder.hex().rjust(64, "0")
    return f"0x00fdd58e{holder.hex().rjust(64, '0')}{item:064x}"


def owner_of(item: int) -> str:
    """Return call data of ownerOf(uint256)."""
    return f"0x6352211e{item:064x}"


TOKEN_CALLS = (
    NAME,
    SYMBOL,
    DECIMALS,
    TOTAL_SUPPLY,
    *map(supports_interface, (ERC165, ERC165_INVALID, ERC721, ERC1155)),
    balance_of(bytes(20)),
    owner_of(1),
    f"0xe985e9c5{0:0128x}",  # isApprovedForAll(address,address)
    balance_of(bytes(20), 0),
)


class ItemClaim(NamedTuple):
    """What a Transfer claims if its word is the id of an item: that `party` owns the item after the
    block, or before it where the block burnt it."""

    party: bytes
    item: int
    is_after: bool
    is_turned: bool = False  # that the id stands in a topic and the recipient in data

    @property
    def calls(self) -> tuple[str, str, str]:
        """The calls that tell: the owner of the item, that of an id which nobody has, so that a
        constant is no owner, and the party's balance. Of a turned one, the party is the id that
        somebody has if the Transfer is an ordinary one."""
        nobody = int.from_bytes(self.party) if self.is_turned else self.item ^ 1 << 255
        return owner_of(self.item), owner_of(nobody), balance_of(self.party)


def get_pool(family: str, token0: bytes, token1: bytes, variant: int) -> str:
    """Return call data of a factory's getPair(address,address), for the family v2, of
    getPool(address,address,bool) for velodrome, or of getPool(address,address,uint24)."""
    tokens = "".join(token.hex().rjust(64, "0") for token in (token0, token1))
    if family == "v2":
        return f"0xe6a43905{tokens}"
    selector = "79bc57d5" if family == "velodrome" else "1698ee82"
    return f"0x{selector}{tokens}{variant:064x}"


def pool_calls(family: str) -> tuple[str, str, str, str]:
    """Return the calls that tell a pool's tokens, its factory, and which of theirs it is there."""
    return TOKEN0, TOKEN1, FACTORY, STABLE if family == "velodrome" else FEE


class TokenMetadata(NamedTuple):
    """The results of TOKEN_CALLS, cleaned."""

    name: str
    symbol: str
    decimals: int | None  # None if they are more than 255; 0 if the call returned no word
    total_supply: int | None  # None if the call returned no word
    interface: str | None  # BEP721 or BEP1155 if EIP-165 reports exactly one of them
    has_decimals: bool
    is_fungible: bool  # answers like a fungible token, so its Deposit may be a mint
    has_balances: bool  # balanceOf(address), as fungible tokens and a BEP721 do
    item_type: str | None  # of what has items and answers like it does
    has_functions: bool  # has returned anything
    owned_beside: int | None = None  # the balance of the party of a claim that ownerOf() confirms
    has_amount: bool = False  # the party of a claim that it denies holds as many as the id says
    turned_type: str | None = None  # BEP721 if that claim is turned


def eventless_type(metadata: TokenMetadata) -> str | None:
    """Return the type of a token that answers as one, without any event of its own; None of what
    may be none: what returns zeros to any call, while a symbol may be empty."""
    is_fungible = metadata.is_fungible and (metadata.symbol or metadata.decimals)
    return metadata.interface or ("BEP20" if is_fungible else None)


def decode_token_metadata(
    results: Sequence[bytes | None],
    claim: ItemClaim | None = None,
    answers: Sequence[bytes | None] = (),
) -> TokenMetadata:
    """Return the metadata in the results of TOKEN_CALLS, where None is a call that reverted; with
    the `answers` to a claim's calls, the first of which is of a block only besides. Where its state
    is pruned, any owner confirms it, a later recipient; one that is turned the same owner alone."""
    name, symbol, decimals, supply, erc165, invalid, erc721, erc1155, *faces = results
    balance, owner, approval, balance_of_id = map(word, faces)
    interface = None
    if word(erc165) == 1 and word(invalid) == 0 and (word(erc721) == 1) != (word(erc1155) == 1):
        interface = "BEP721" if word(erc721) == 1 else "BEP1155"
    then, now, of_nobody, held = map(word, answers or [None] * 4)
    if of_nobody and owner == of_nobody:
        owner = None
    # ERC-6909 has balances of ids as ERC-1155, but operators in place of approvals for all.
    items = interface
    if items is None and balance_of_id is not None:
        items = "BEP6909" if approval is None else "BEP1155"
    elif items is None and (owner is not None or approval is not None):
        items = "BEP721"
    owned_beside, has_amount = None, False
    if claim is not None:
        then = now if claim.is_turned and then is None else then
        is_other = then not in (None, int.from_bytes(claim.party))
        if not now or (of_nobody and of_nobody in (now, claim.item)) or is_other:
            has_amount = held is not None and held >= claim.item > 1
        else:
            owned_beside, items = held or 0, items or "BEP721"
    return TokenMetadata(
        text(name, MAX_NAME),
        text(symbol, MAX_SYMBOL),
        decimal_places(decimals),
        word(supply),
        interface,
        word(decimals) is not None,
        None not in (word(decimals), word(supply), balance),
        balance is not None,
        items,
        any(results) or any(answers),
        owned_beside,
        has_amount,
        "BEP721" if claim is not None and claim.is_turned and owned_beside is not None else None,
    )


def decimal_places(result: bytes | None) -> int | None:
    """Return the result of decimals(): 0 where there is none, None where it is more than 255."""
    places = word(result) or 0
    return places if places <= 255 else None


def word(result: bytes | None) -> int | None:
    """Return the first 32 bytes as uint256, or None if there are fewer."""
    return int.from_bytes(result[:32]) if result is not None and len(result) >= 32 else None


def address(result: bytes | None) -> bytes | None:
    """Return an address in a 32-byte word; None if it is not one."""
    if result is None or len(result) < 32 or any(result[:12]):
        return None
    return result[12:32]


def text(result: bytes | None, max_characters: int) -> str:
    """Return an ABI-encoded string or bytes32 without control characters, cut to
    `max_characters`; "" if it is neither. Zeros may follow a bytes32: the
    proxies that early Vyper makes, as Uniswap V1's, return 4,096 bytes of any call."""
    if not result:
        return ""
    raw = _dynamic(result)
    if raw is None:
        raw = b"" if len(result) < 32 or any(result[32:]) else result[:32].rstrip(b"\0")
    return _CONTROL.sub("", raw.decode("utf-8", "replace"))[:max_characters]


def cut_text(result: bytes) -> bytes:
    """Return an ABI-encoded string cut to MAX_TEXT_BYTES, encoded anew; b"" if it is none."""
    raw = _dynamic(result)
    if raw is None:
        return b""
    raw = raw[:MAX_TEXT_BYTES]
    return (32).to_bytes(32) + len(raw).to_bytes(32) + raw


def string(result: bytes) -> str | None:
    """Return an ABI-encoded string without control characters; None if it is none."""
    raw = _dynamic(result)
    return None if raw is None else _CONTROL.sub("", raw.decode("utf-8", "replace"))


def _dynamic(result: bytes) -> bytes | None:
    """Return the bytes of an ABI-encoded string; None if offset or length are invalid."""
    if len(result) < 64:
        return None
    start = int.from_bytes(result[:32])
    if start + 32 > len(result):
        return None
    length = int.from_bytes(result[start : start + 32])
    if start + 32 + length > len(result):
        return None
    return result[start + 32 : start + 32 + length]
