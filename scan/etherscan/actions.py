"""Which function serves which action, by module; names are in lower case."""

from collections.abc import Callable, Collection, Mapping

from scan.etherscan import account, chain, contract, creation, logs, proxy, verification
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply, RpcReply

Action = Callable[[Parameters], Reply | RpcReply]

BAD_MODULE = "Error! Missing Or invalid Module name"
BAD_ACTION = "Error! Missing Or invalid Action name"

MODULES: Mapping[str, Mapping[str, Action]] = {
    "account": {
        "balance": account.balance,
        "balancemulti": account.balances,
        "txlist": account.transactions,
        "txlistinternal": account.internal_transactions,
        "tokentx": account.transfers_bep20,
        "tokennfttx": account.transfers_bep721,
        "token1155tx": account.transfers_bep1155,
        "tokenbalance": account.token_balance,
        "addresstokenbalance": account.token_balances,
    },
    "contract": {
        "getabi": contract.abi,
        "getsourcecode": contract.source_code,
        "getcontractcreation": creation.contract_creations,
        "verifysourcecode": verification.verify_source,
        "checkverifystatus": verification.verification_status,
        "verifyproxycontract": verification.verify_proxy,
        "checkproxyverification": verification.proxy_status,
    },
    "block": {"getblocknobytime": chain.block_by_time},
    "transaction": {
        "getstatus": chain.execution_status,
        "gettxreceiptstatus": chain.receipt_status,
    },
    "token": {
        "tokeninfo": chain.token,
        "tokenholderlist": chain.token_holders,
        "tokenholdercount": chain.token_holder_count,
    },
    "gastracker": {"gasoracle": chain.gas_oracle},
    "stats": {"tokensupply": account.token_supply},
    "logs": {"getlogs": logs.get_logs},
    "proxy": {name.lower(): proxy.method(name) for name in proxy.METHODS},
}

_SPELLED = {name.lower(): name for name in ("getLogs", *proxy.METHODS)}
# The actions as spelled in Etherscan's documentation.
PUBLISHED: Mapping[str, Collection[str]] = {
    module: [_SPELLED.get(name, name) for name in actions] for module, actions in MODULES.items()
}


def find_action(parameters: Parameters) -> Action:
    module = MODULES.get(parameters.text("module").lower())
    if module is None:
        raise Failure(BAD_MODULE)
    action = module.get(parameters.text("action").lower())
    if action is None:
        raise Failure(BAD_ACTION)
    return action
