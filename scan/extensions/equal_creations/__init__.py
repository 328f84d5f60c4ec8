"""Contracts with the runtime code of a verified one, told apart by the code that created them.

Input: the address of a contract that somebody looked at, or that has the code of one just verified.
Output: a row of creation_comparisons, by which verification_of() tells a contract with the same
creation code from one that is similar in its runtime code alone. Start with contract_comparison.py;
worker.py runs beside serving.
"""

from scan.registry import Extension

EXTENSION = Extension("compares creations of contracts that have a verified contract's code")
