"""What calls are for, by ERC-7730 descriptors that the operator has put into a folder.

Input: the JSON files of SCAN_DESCRIPTORS, calls and typed data. Output: the intent and the labelled
values of a call and of those inside, in records and on pages of transactions, of the decoder and of
simulations. Start with queries.py, then contract_bindings.py (whose descriptor), descriptors.py
(that of a contract), descriptor_formats.py (what a file declares), call_description.py,
value_paths.py (arguments) and value_formats.py (how they are shown).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "what calls are for, by ERC-7730 descriptors in a folder",
    needs=("contract_details", "transaction_details"),
)
