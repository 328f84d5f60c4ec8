"""What calls are for, by ERC-7730 descriptors that the operator has put into a folder.

Input: the JSON files of SCAN_DESCRIPTORS, a transaction's calldata. Output: the intent and the
labelled values of its call, as a field of the transaction and on its page. Start with queries.py,
then descriptors.py (files to formats), call_description.py and field_formats.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "what calls are for, by ERC-7730 descriptors in a folder", needs=("transaction_details",)
)
