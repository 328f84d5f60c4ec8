"""Contracts that verified contracts created, verified by the sources of their factories.

Input: creations and verifications of the index. Output: submissions to verification_jobs. Start
with factory_children.py.
"""
