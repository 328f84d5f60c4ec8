"""What calls are for, by ERC-7730 descriptors that the operator has put into a folder.

Input: the JSON files of SCAN_DESCRIPTORS, calls and typed data. Output: the intent and the labelled
values of a call and of those inside, in records and on pages of transactions, of the decoder and of
simulations. Start with queries.py, then contract_bindings.py (whose descriptor), descriptors.py
(files to formats), call_description.py and field_formats.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "what calls are for, by ERC-7730 descriptors in a folder",
    needs=("contract_details", "transaction_details"),
)
