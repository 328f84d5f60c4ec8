"""Contracts from the operator's own build folders: their code is matched and verified by itself.

Input: SCAN_ARTIFACTS, folders of Foundry and Hardhat, and standard JSON. Output: verified
contracts, ABIs and claims of contracts that cannot be compiled here, and the source maps of
creations that failed. Start with build_watch.py, then build_folders.py (files within bounds),
build_formats.py (what tools write) and build_sources.py (a build's input for its compiler, and its
creations).
"""
