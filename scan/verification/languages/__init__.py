"""The languages that verification compiles, each behind one adapter (language.py).

An adapter says where a language's compilers come from, what they are given, and brings their output
into the form of solc's standard JSON, so that the comparison is the same for all.
"""

from scan.verification.languages.language import Language
from scan.verification.languages.solidity import SOLIDITY
from scan.verification.languages.vyper import VYPER
from scan.verification.languages.yul import YUL

LANGUAGES = {language.name: language for language in (SOLIDITY, VYPER, YUL)}


def of_path(path: str) -> Language:
    """Return the language of a file, by its suffix, which requests are held to."""
    return next((own for own in (VYPER, YUL) if path.endswith(own.suffixes)), SOLIDITY)
