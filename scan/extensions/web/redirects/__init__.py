"""Redirects from the URLs of other explorers' pages.

Input: a path of Blockscout's or Etherscan's pages. Output: a redirect to the page of Scan with
the same, or to the nearest one. Start with TARGETS of interface.py.
"""
