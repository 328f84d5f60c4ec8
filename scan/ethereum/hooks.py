"""What extensions add to the forms of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass

from scan.ethereum.forms.form import Form
from scan.registry import Part


@dataclass(frozen=True, kw_only=True)
class Forms(Part):
    """Forms of the blocks of chains."""

    module = "form"
    forms: Sequence[Form]
    """The forms: fields, types of transactions, parts of fees."""
