"""Source code to a match with deployed bytecode.

Enters: a source, a compiler version and optional settings. Leaves: full or partial match, stored.
Start with verifier.py (from request to record), then request.py, matching.py (the search over
settings), contract_match.py and bytecode_comparison.py (the rules), compiler.py (running solc on
hostile input, in sandbox.py's limits), compiler_install.py (fetching it). jobs.py and job_runner.py
are for those who submit now and ask for the result later.
"""
