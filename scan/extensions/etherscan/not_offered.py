"""Documented actions that Scan does not answer, each with its reason."""

from collections.abc import Mapping

_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "the supply of the coin is not recorded on the chain": (
        "stats ethsupply",
        "stats ethsupply2",
        "stats ethsupplyexchange",
        "stats coinsupply",
    ),
    "no prices of past days are stored": ("stats ethdailyprice", "stats ethdailymarketcap"),
    "the largest and smallest prices of gas are not kept by day": ("stats dailyavggasprice",),
    "difficulty is not indexed": ("stats dailyavghashrate", "stats dailyavgnetdifficulty"),
    "the nodes of the network are not counted, nor measured": (
        "stats nodecount",
        "stats nodecounthistory",
        "stats chainsize",
    ),
    "how long transactions wait at a gas price is not recorded; see gasoracle": (
        "gastracker gasestimate",
    ),
    "/names/:name of the API resolves names": ("ens forwardresolve",),
    "registrations of names are not counted": ("stats dailyensregister",),
    "`scan labels export` writes them": (
        "nametag getlabelmasterlist",
        "nametag exportaddresstags",
    ),
    "the headers X-RateLimit-… of every response have it": ("getapilimit getapilimit",),
    "accounts are not ordered by their first block; by balance they are, at /api/v1/accounts": (
        "account listaccounts",
    ),
    "tokens of this type are not indexed": ("account token404tx", "account token7984tx"),
    "bridges are not indexed": ("account txnbridge", "token bridgedtokenlist"),
    "L1 is not indexed; messages to it are at /api/v1/messages-to-l1": (
        "account getdeposittxs",
        "account getwithdrawaltxs",
    ),
    "verify with verifysourcecode, or with Sourcify's API at /v2": (
        "contract verify",
        "contract verify_via_sourcify",
        "contract verify_vyper_contract",
    ),
}
# The reasons by module and action, in lower case.
NOT_OFFERED: Mapping[tuple[str, str], str] = {
    (module, action): reason
    for reason, names in _ACTIONS.items()
    for module, _, action in (name.partition(" ") for name in names)
}
