"""Uncles of blocks with proof of work, and rewards for mining.

Input: a decoded block, and its uncles from the node. Output: the block with its uncles and rewards.
Start with block_completion.py (rewards, too: Ethereum's, Ethereum Classic's).
"""
