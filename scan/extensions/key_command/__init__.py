"""`scan key`: requests an API key as a client does; lists and revokes keys as an operator.

Input: the command's options. Output: a key, or lines of keys. Start with key_command.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the command `scan key`, which requests, lists and revokes API keys",
    commands={"key": "manage API keys"},
)
