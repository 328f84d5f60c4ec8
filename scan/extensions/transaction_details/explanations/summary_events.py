"""The forms of events in summary_sentences.json, filled with the events' arguments."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from eth_hash.auto import keccak

from scan.ethereum.transaction_reader import TransactionLog
from scan.extensions.transaction_details.explanations.summary_parts import (
    ZERO,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    collection_part,
    contract_part,
    token_part,
)
from scan.hex import to_hex

UNLIMITED = 2**255  # amounts from here on; most wallets and exchanges ask for 2**256 - 1
MAX_WORDS = 8
WORD = 32

Form = Mapping[str, Any]


def topic_of(event: str) -> bytes:
    return keccak(event.encode())


def words_of(log: TransactionLog) -> list[bytes]:
    """Return a log's arguments as words. In all events of the table, indexed arguments come
    first."""
    data = log.data[: MAX_WORDS * WORD]
    plain = [data[at : at + WORD] for at in range(0, len(data) - WORD + 1, WORD)]
    return [*log.topics[1:], *plain]


def address_of(word: bytes) -> str | None:
    return to_hex(word[12:]) if not any(word[:12]) else None


def fits(form: Form, log: TransactionLog, words: Sequence[bytes], sender: str) -> bool:
    """Return whether the log has the form's arguments, and they meet its conditions."""
    if len(log.topics) != form["topics"]:
        return False
    if len(words) != form["event"].count(",") + 1:
        return False
    if any(
        address_of(words[int(index)]) is None
        for index in re.findall(r"\{(\d):(?:address|token)\}", form["text"])
    ):
        return False
    for index, condition in form.get("where", {}).items():
        word = words[int(index)]
        number = int.from_bytes(word)
        if not {
            "sender": address_of(word) == sender,
            "zero": number == 0,
            "one": number == 1,
            "unlimited": number >= UNLIMITED,
        }[condition]:
            return False
    return True


def values_of(
    text: str, words: Sequence[bytes], emitter: str, names: Names
) -> dict[str, list[Part]]:
    """Return the values of a text's placeholders `{argument:kind}`, where argument is the index of
    a word, or `emitter`."""
    values: dict[str, list[Part]] = {}
    for key in re.findall(r"\{([^}]+)\}", text):
        argument, kind = key.split(":")
        word = b"" if argument == "emitter" else words[int(argument)]
        address = emitter if argument == "emitter" else address_of(word) or ZERO
        if kind == "amount":
            values[key] = [asset_part(names, Asset(emitter), int.from_bytes(word))]
        elif kind == "item":
            values[key] = [asset_part(names, Asset(emitter, str(int.from_bytes(word))), 1)]
        else:
            part = {
                "address": address_part,
                "contract": contract_part,
                "token": token_part,
                "collection": collection_part,
            }[kind]
            values[key] = [part(names, address)]
    return values
