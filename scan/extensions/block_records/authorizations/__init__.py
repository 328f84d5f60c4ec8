"""Authorizations (EIP-7702), by which accounts run the code of another address.

Start with rows.py of the folder above (entries of a block's authorizationLists), then
sql/schema/changes.sql (which of them took effect).
"""
