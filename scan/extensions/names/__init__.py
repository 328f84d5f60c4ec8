"""Names of addresses, such as vitalik.eth: ENS, Basenames, Linea's names and SPACE ID.

Input: a name, or addresses, and the node. Output: the address of a name in searches and by
/names/:name; the primary name of an address, which its owner has chosen and which leads back to it,
beside the address. Start with primary_names.py (what is read and kept), then node_names.py (the
calls), normalization.py (which names are names) and name_services.py (where they are).
"""

from scan.registry import Extension

EXTENSION = Extension("names of addresses by ENS and other name services", "comfort")
