"""Who may call the functions of a contract, by the syntax tree of its compiler.

Input: the tree, its sources and a contract's name. Output: a record of each function that may
change state: its conditions on the caller, and what it does to holders, each with its line. What is
not understood is a condition that is not recognised, never none. Start with
contract_permissions.py; solidity_functions.py walks the statements, caller_conditions.py reads
conditions of values.py. vyper_tree.py brings Vyper's trees into the form of solc's.
"""
