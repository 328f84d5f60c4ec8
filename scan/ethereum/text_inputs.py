"""Inputs of transactions that may be texts: memos, not calls. Pure.

Whether one is a text, visible_text in scan/contracts tells; what is left out here is none by its
rule, or creates a contract.
"""

import re
from collections.abc import Iterable

from scan.hex import data

MAX_TEXT_BYTES = 2048  # of an input, by which a text is recognised

# A transaction's index, and the first MAX_TEXT_BYTES of its input.
TextInput = tuple[int, bytes]

# No control characters, but tabs and line breaks, in the first bytes: most arguments of a call
# begin with zeros.
_MAY_BE_TEXT = re.compile(r"0x(?:0[9aAdD]|[2-9a-fA-F][0-9a-fA-F]){1,32}+(?:\Z|(?<=.{66}))")


def text_inputs(recipients: Iterable[object], inputs: Iterable[str]) -> tuple[TextInput, ...]:
    """Return those of a block, of the recipients and inputs of its transactions: None, or hex. May
    raise BadHex and TypeError."""
    return tuple(
        (index, data(input_[: 2 + 2 * MAX_TEXT_BYTES]))
        for index, (recipient, input_) in enumerate(zip(recipients, inputs, strict=True))
        if recipient is not None and input_ is not None and _MAY_BE_TEXT.match(input_)
    )
