"""The `scan` command: one file for each subcommand.

Enters: arguments and settings. Leaves: an exit code: 0 done, 1 failed, 2 called wrongly.
Start with __init__.py (the parser); run.py starts everything on one machine.
"""
