"""Documented actions that Scan does not answer, each with its reason."""

from collections.abc import Mapping

NO_SUPPLY = "the supply of the coin is not recorded on the chain"
NO_ORDER = "accounts are not ordered by their first block; by balance they are, at /api/v1/accounts"
NOT_THE_TYPE = "tokens of this type are not indexed"
VERIFY = "verify with verifysourcecode, or with Sourcify's API at /v2"

NOT_OFFERED: Mapping[tuple[str, str], str] = {
    ("account", "listaccounts"): NO_ORDER,
    ("account", "token404tx"): NOT_THE_TYPE,
    ("account", "token7984tx"): NOT_THE_TYPE,
    ("stats", "ethsupply"): NO_SUPPLY,
    ("stats", "ethsupply2"): NO_SUPPLY,
    ("stats", "ethsupplyexchange"): NO_SUPPLY,
    ("stats", "coinsupply"): NO_SUPPLY,
    ("token", "bridgedtokenlist"): "bridges are not indexed",
    ("contract", "verify"): VERIFY,
    ("contract", "verify_via_sourcify"): VERIFY,
    ("contract", "verify_vyper_contract"): VERIFY,
}
