"""The action for a sender's pending transactions in Blockscout's form."""

from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_checks import Proof
from scan.extensions.etherscan import account, hooks, replies
from scan.extensions.pending_transactions import queries
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.http.prerequisites import Prerequisite, requires


@requires(Prerequisite.NODE)
def pending(parameters: replies.Parameters) -> replies.Reply:
    """Return the transactions of a sender in the node's pool."""
    limit, offset = parameters.limit_and_offset()
    reader().do_not_cache()
    node: NodeSession = reader().node.within(queries.TIMEOUT_S)
    pool = queries.read_pool(node, parameters.address())
    if pool.reason is not None:
        raise replies.Failure(f"Error! {pool.reason}")
    # Its form cannot tell that nothing proves a transaction.
    proven = [sent for sent in pool.transactions if sent.proof is not Proof.NOTHING]
    rows = [_row(sent) for sent in proven[offset : offset + limit]]
    return replies.rows_reply(rows, account.NO_TRANSACTIONS, len(proven))


def _row(sent: queries.PendingTransaction) -> dict[str, str]:
    return {
        "hash": to_hex(sent.hash),
        "nonce": str(sent.nonce),
        "from": to_hex(sent.from_address),
        "to": "" if sent.to_address is None else to_hex(sent.to_address),
        "value": str(sent.value),
        "gas": str(sent.gas_limit),
        "gasPrice": str(sent.max_fee_per_gas),
        "input": to_hex(sent.input),
        "contractAddress": "",
        "gasUsed": "",
        "cumulativeGasUsed": "",
    }


HOOKS = hooks.Etherscan(actions={("account", "pendingtxlist"): pending})
