"""The languages that verification compiles, each behind one adapter (solidity.py).

An adapter says where a language's compilers come from, what they are given, and brings their output
into the form of solc's standard JSON, so that the comparison is the same for all.
"""

from collections.abc import Mapping
from typing import Any

from scan.verification.bytecode_comparison import libraries_by_file
from scan.verification.languages.solidity import SOLIDITY, YUL, Language
from scan.verification.languages.vyper import STORAGE_LAYOUTS, VYPER

# Settings that standard JSON has beside `settings`.
BESIDE_SETTINGS = (STORAGE_LAYOUTS,)
LANGUAGES = {language.name: language for language in (SOLIDITY, VYPER, YUL)}


def language_of_path(path: str) -> Language:
    """Return the language of a file, by its suffix, which requests are held to."""
    others = (language for language in (VYPER, YUL) if path.endswith(language.suffixes))
    return next(others, SOLIDITY)


def standard_settings(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings as verification stores them with libraries by file, as in standard JSON;
    those of others, which have that form, as they are."""
    libraries = settings.get("libraries")
    is_by_name = isinstance(libraries, dict) and any(isinstance(a, str) for a in libraries.values())
    return {**settings, "libraries": libraries_by_file(libraries or {})} if is_by_name else settings


def standard_input(path: str, sources: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a standard JSON input of the contract in the file `path`, of sources and settings as
    verification stores them."""
    beside = {name: settings[name] for name in BESIDE_SETTINGS if name in settings}
    inside = {name: v for name, v in standard_settings(settings).items() if name not in beside}
    language = language_of_path(path).name
    return {"language": language, "sources": sources, "settings": inside, **beside}
