"""The function of each action, by module; names are in lower case."""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from scan import registry
from scan.cached_values import LazyMapping, LazySequence
from scan.extensions.etherscan import (
    account,
    blocks,
    chain,
    contract,
    creation,
    days,
    funding,
    logs,
    nametags,
    proxy,
    tokens,
    transaction_info,
    verification,
)
from scan.extensions.etherscan.hooks import Etherscan
from scan.extensions.etherscan.not_offered import NOT_OFFERED
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, RpcReply

Action = Callable[[Parameters], Reply | RpcReply]

BAD_MODULE = "Error! Missing Or invalid Module name"
BAD_ACTION = "Error! Missing Or invalid Action name"

MODULES: Mapping[str, Mapping[str, Action]] = {
    "account": {
        "balance": account.balance,
        "balancemulti": account.balances,
        "txlist": account.transactions,
        "txlistinternal": account.internal_transactions,
        "tokentx": partial(account.token_transfers_of, "BEP20"),
        "tokennfttx": partial(account.token_transfers_of, "BEP721"),
        "token1155tx": partial(account.token_transfers_of, "BEP1155"),
        "balancehistory": account.balance_at,
        "tokenbalance": account.token_balance,
        "tokenbalancehistory": account.token_balance_at,
        "addresstokenbalance": account.token_balances,
        "addresstokennftbalance": account.collections,
        "addresstokennftinventory": account.items,
        "fundedby": funding.funded_by,
        "tokenlist": tokens.token_list,
        "getminedblocks": blocks.mined_blocks,
        "txsbeaconwithdrawal": blocks.beacon_withdrawals,
        "eth_get_balance": account.balance_in_hex,
    },
    "contract": {
        "getabi": contract.abi,
        "getsourcecode": contract.source_code,
        "getcontractcreation": creation.contract_creations,
        "verifysourcecode": verification.verify_source,
        "checkverifystatus": verification.verification_status,
        "verifyproxycontract": verification.verify_proxy,
        "checkproxyverification": verification.proxy_status,
        "listcontracts": contract.verified_contracts,
    },
    "block": {
        "getblocknobytime": chain.block_by_time,
        "getblockreward": blocks.block_reward,
        "getblocktxnscount": blocks.row_counts,
        "getblockcountdown": blocks.block_countdown,
        "eth_block_number": blocks.newest_block,
    },
    "transaction": {
        "getstatus": chain.execution_status,
        "gettxreceiptstatus": chain.receipt_status,
        "gettxinfo": transaction_info.transaction_info,
    },
    "token": {
        "tokeninfo": chain.token,
        "tokenholderlist": chain.token_holders,
        "tokenholdercount": chain.token_holder_count,
        "topholders": chain.top_holders,
        "gettoken": tokens.get_token,
        "gettokenholders": tokens.get_token_holders,
    },
    "gastracker": {"gasoracle": chain.gas_oracle},
    "stats": {
        "tokensupply": account.token_supply,
        "tokensupplyhistory": account.token_supply_at,
        "dailytx": partial(days.days_as, "day_of_transactions"),
        "dailytxnfee": partial(days.days_as, "day_of_fees"),
        "dailynewaddress": partial(days.days_as, "day_of_new_addresses"),
        "dailygasused": partial(days.days_as, "day_of_gas"),
        "dailyblkcount": partial(days.days_as, "day_of_blocks"),
        "dailyavgblocktime": days.block_times,
        "dailyavgblocksize": partial(days.blocks_as, "day_of_sizes", "size"),
        "dailyavggaslimit": partial(days.blocks_as, "day_of_gas_limits", "gasLimit"),
        "dailynetutilization": partial(days.blocks_as, "day_of_utilization", "utilization"),
        "dailyblockrewards": partial(days.blocks_as, "day_of_rewards", "rewards"),
        "dailyuncleblkcount": partial(days.blocks_as, "day_of_uncles", "uncleRewards"),
        "totalfees": chain.fees_of_day,
    },
    "logs": {"getlogs": logs.get_logs},
    "nametag": {"getaddresstag": nametags.address_tags},
    "proxy": {name.lower(): proxy.method(name) for name in proxy.METHODS},
}

_SPELLED = {
    name.lower(): name
    for name in ("getLogs", "getToken", "getTokenHolders", "txsBeaconWithdrawal", *proxy.METHODS)
}
# Those of other extensions, by module and action.
OF_EXTENSIONS: Mapping[tuple[str, str], Action] = LazyMapping(
    lambda: registry.merged(part.actions for part in registry.parts(Etherscan))
)
# The actions as spelled in Etherscan's and Blockscout's documentation.
PUBLISHED: Mapping[str, Collection[str]] = LazyMapping(
    lambda: {
        module: [
            *(_SPELLED.get(name, name) for name in actions),
            *(name for of, name in OF_EXTENSIONS if of == module and name not in actions),
        ]
        for module, actions in MODULES.items()
    }
)
SUPPORTED = LazySequence(
    lambda: ["\n".join(f"- `{module}`: {', '.join(names)}" for module, names in PUBLISHED.items())]
)


def find_action(parameters: Parameters) -> Action:
    named = parameters.text("module").lower(), parameters.text("action").lower()
    if named in NOT_OFFERED:
        raise Failure(f"Error! {named[1]} is not offered: {NOT_OFFERED[named]}")
    module = MODULES.get(named[0])
    if module is None:
        raise Failure(BAD_MODULE)
    action = OF_EXTENSIONS.get(named) or module.get(named[1])
    if action is None:
        raise Failure(BAD_ACTION)
    return action
