"""`scan run --anvil`: a node for development that starts and stops with the service.

Input: the program anvil, as Foundry installs it or as it is in the PATH. Output: its node on
loopback, the chain of RPC_URL; the state, its accounts and keys in SCAN_DATA_DIR. Start with
anvil_process.py.
"""

from scan.registry import Extension

EXTENSION = Extension("a node for development (scan run --anvil)", "operating")
