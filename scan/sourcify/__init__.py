"""Sourcify's API, version 2, for tools that look contracts up or verify them there.

Enters: requests below /v2/contract, /v2/verify, /chains and /server. Leaves: records and errors in
Sourcify's form; verification jobs for scan/verification.
Start with blueprint.py, then contract_record.py (what a lookup returns), submissions.py (what a
verification sends) and errors.py.
"""
