"""What extensions add to the forms of blocks."""

from collections.abc import Sequence

from scan.ethereum.forms.form import Form
from scan.registry import Part


class Forms(Part, module="form"):
    """Forms of the blocks of chains."""

    forms: Sequence[Form]
    """The forms: fields, types of transactions, parts of fees."""
