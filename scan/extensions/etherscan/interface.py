"""/api and /v2/api: one Etherscan-compatible request, from its parameters and chain id to the
response of its action, by module and lower-case name; and the list of chains.

Documented actions that Scan does not answer are in not_offered.toml with their reasons.
"""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl

from flask import Blueprint, Flask, Response, request

from scan import registry
from scan.cached_values import LazyMapping, LazySequence
from scan.extensions.etherscan import account, chain, contract, proxy, replies, transactions
from scan.extensions.etherscan.hooks import Etherscan
from scan.extensions.etherscan.replies import public_url
from scan.http import hooks, request_bodies
from scan.http.current_request import query_arguments, reader
from scan.http.interfaces import Interface
from scan.http.json_responses import JsonResponse, json_value
from scan.http.prerequisites import Prerequisite, prerequisite_of, requires
from scan.http.services import services
from scan.parameters import nearest
from scan.queries.network import name_of
from scan.settings import Settings

NOT_OFFERED_TABLE = Path(__file__).with_name("not_offered.toml")
# The reasons by module and action, in lower case.
NOT_OFFERED: Mapping[tuple[str, str], str] = {
    (module, action): reason
    for reason, names in tomllib.loads(NOT_OFFERED_TABLE.read_text(encoding="utf-8")).items()
    for module, _, action in (name.partition(" ") for name in names)
}


Action = Callable[[replies.Parameters], replies.Reply | replies.RpcReply]

NOTES = {
    "X-Scan-Balances-Since": "Balances are known",
    "X-Scan-Inconsistent-Since": "Some balances are sums of events, which do not add up",
}

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
        "fundedby": account.funded_by,
        "tokenlist": account.token_list,
        "getminedblocks": chain.mined_blocks,
        "txsbeaconwithdrawal": chain.beacon_withdrawals,
        "eth_get_balance": account.balance_in_hex,
    },
    "contract": {
        "getabi": contract.abi,
        "getsourcecode": contract.source_code,
        "getcontractcreation": contract.contract_creations,
        "verifysourcecode": contract.verify_source,
        "checkverifystatus": contract.verification_status,
        "verifyproxycontract": contract.verify_proxy,
        "checkproxyverification": contract.proxy_status,
        "listcontracts": contract.verified_contracts,
    },
    "block": {
        "getblocknobytime": chain.block_by_time,
        "getblockreward": chain.block_reward,
        "getblocktxnscount": chain.row_counts,
        "getblockcountdown": chain.block_countdown,
        "eth_block_number": chain.newest_block,
    },
    "transaction": {
        "getstatus": chain.execution_status,
        "gettxreceiptstatus": chain.receipt_status,
        "gettxinfo": transactions.transaction_info,
    },
    "token": {
        "tokeninfo": chain.token,
        "tokenholderlist": chain.token_holders,
        "tokenholdercount": chain.token_holder_count,
        "topholders": chain.top_holders,
        "gettoken": account.get_token,
        "gettokenholders": account.get_token_holders,
    },
    "gastracker": {"gasoracle": chain.gas_oracle},
    "stats": {
        "tokensupply": account.token_supply,
        "tokensupplyhistory": account.token_supply_at,
        "dailytx": partial(chain.days_as, "day_of_transactions"),
        "dailytxnfee": partial(chain.days_as, "day_of_fees"),
        "dailynewaddress": partial(chain.days_as, "day_of_new_addresses"),
        "dailygasused": partial(chain.days_as, "day_of_gas"),
        "dailyblkcount": partial(chain.days_as, "day_of_blocks"),
        "dailyavgblocktime": chain.block_times,
        "dailyavgblocksize": partial(chain.blocks_as, "day_of_sizes", "size"),
        "dailyavggaslimit": partial(chain.blocks_as, "day_of_gas_limits", "gasLimit"),
        "dailynetutilization": partial(chain.blocks_as, "day_of_utilization", "utilization"),
        "dailyblockrewards": partial(chain.blocks_as, "day_of_rewards", "rewards"),
        "dailyuncleblkcount": partial(chain.blocks_as, "day_of_uncles", "uncleRewards"),
        "totalfees": chain.fees_of_day,
    },
    "logs": {"getlogs": proxy.get_logs},
    "nametag": {"getaddresstag": account.address_tags},
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


def find_action(parameters: replies.Parameters) -> Action:
    key = parameters.text("module").lower(), parameters.text("action").lower()
    if key in NOT_OFFERED:
        raise replies.Failure(f"Error! {key[1]} is not offered: {NOT_OFFERED[key]}")
    module = MODULES.get(key[0])
    if module is None:
        details = _meant(key[0], MODULES)
        raise replies.Failure("Error! Missing Or invalid Module name", details=details)
    action = OF_EXTENSIONS.get(key) or module.get(key[1])
    if action is None:
        details = _meant(key[1], PUBLISHED[key[0]])
        raise replies.Failure("Error! Missing Or invalid Action name", details=details)
    return action


def _meant(name: str, known: Collection[str]) -> str | None:
    similar = nearest(name, known) if name else None
    return f"Did you mean {similar}?" if similar else None


WRONG_CHAIN = "Missing or unsupported chainid parameter: this is chain {}"

blueprint = Blueprint("etherscan", __name__)


@blueprint.errorhandler(replies.Failure)
def _failure_response(failure: replies.Failure) -> Response:
    reader().do_not_cache()  # the node may have failed, and answer the next request
    return _response(failure.reply)


def _prerequisite(query: str) -> Prerequisite | None:
    """Return the prerequisite of the action that a query names; an unknown one has none."""
    try:
        action = find_action(replies.Parameters(parse_qsl(query)))
    except replies.Failure:
        return None
    return prerequisite_of(action)


@requires(_prerequisite)
def _respond() -> Response:
    # The form's value counts if a name is in both.
    parameters = replies.Parameters(
        [*request.args.items(multi=True), *request_bodies.form().items(multi=True)]
    )
    _require_own_chain(parameters)
    return _response(find_action(parameters)(parameters))


for path in replies.PATHS:
    name = path.strip("/").replace("/", "_")
    blueprint.add_url_rule(path, name, _respond, methods=["GET", "POST"])


blueprint.add_url_rule(replies.ETH_RPC, view_func=proxy.respond_to_rpc, methods=["POST"])


@blueprint.get(replies.CHAIN_LIST)
def list_own_chain() -> JsonResponse:
    """Return the chain of this service; none before the first block."""
    query_arguments()
    settings, chain_id = services().settings, reader().sources.chain_id.read()
    reader().do_not_cache()  # it names the host that the client has used
    base = f"{public_url(request.environ, settings.trusted_proxies)}{settings.base_path}"
    chain = {
        "chainname": name_of(chain_id or "", settings.chain_name),
        "chainid": chain_id,
        "blockexplorer": f"{base}/",
        "apiurl": f"{base}/v2/api?chainid={chain_id}",
        "status": 1,
        "comment": "",
    }
    chains = [] if chain_id is None else [chain]
    comments = "status: 1 the chain's service answers, 0 it does not"
    return json_value({"comments": comments, "totalcount": len(chains), "result": chains})


def _require_own_chain(parameters: replies.Parameters) -> None:
    """Raise Failure for a `chainid` other than the indexed chain's; the parameter is optional."""
    if not parameters.text("chainid"):
        return
    chain_id = reader().sources.chain_id.read()
    if chain_id is not None and str(parameters.integer("chainid", 0)) != chain_id:
        raise replies.Failure(WRONG_CHAIN.format(chain_id))


def _response(reply: replies.Reply | replies.RpcReply) -> Response:
    if isinstance(reply, replies.Reply) and reply.message == "OK":
        for name, block in reader().notes.items():
            reply = reply._replace(message=f"OK-{NOTES[name]} since block {block}")
    response = Response(reply.body(), mimetype="application/json")
    if isinstance(reply, replies.Reply) and reply.total is not None:
        response.headers["X-Total-Count"] = str(reply.total)
    if isinstance(reply, replies.Reply) and reply.kept_from is not None:
        response.headers["X-Scan-Kept-From"] = str(reply.kept_from)
    return response


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    return (replies.ETHERSCAN, replies.JSON_RPC)


HOOKS = hooks.Interfaces(register=register)
