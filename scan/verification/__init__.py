"""Verification: source code is compiled and compared with deployed bytecode.

Input: a source, a compiler version and optional settings. Output: a full or partial match, stored.
Start with verifier.py (from request to record), then request.py, match_search.py (the search over
settings), languages/ (an adapter a language), contract_match.py and bytecode_comparison.py (the
rules), compiler_run.py (runs compilers on hostile input, within sandbox.py's limits),
compiler_store.py (has it, or downloads it).
"""
