"""What a transaction did and why: its calls, changes of the state, gas; storage by name.

transactions/ has the sentence, the reason of a failure with its line, calls and changes of the
state; gas_use/ the gas by call and function; storage/ variables by their names.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "transactions explained: failures, calls, changes of state, gas by call; storage by name",
    "chain data",
    needs=("compiled_sources", "decoding", "traces"),
)
