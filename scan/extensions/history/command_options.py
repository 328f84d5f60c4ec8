"""`scan audit --proofs`: sums of histories beside balances that the node proves.

Exit codes are those of `scan audit`.
"""

import argparse
import random
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence

from scan.commands import hooks, startup
from scan.commands.arguments import whole_number
from scan.contracts.account_state import node_of_index
from scan.database.connection import Database
from scan.ethereum import client, served_chain, state_proofs
from scan.extensions.history.genesis_balances import GenesisBalance
from scan.hex import BadHex, quantity, to_hex
from scan.observability.logs import print_lines
from scan.settings import Settings

AT_ONCE = 100  # addresses, of one block each time
ALL_EQUAL, DIFFERS, NOT_COMPARED = 0, 1, 2


def add_arguments(command: hooks.Arguments) -> None:
    command.add_argument(
        "--proofs",
        type=whole_number,
        metavar="COUNT",
        help="only compare so many addresses, drawn at random, with balances that RPC_URL proves",
    )
    command.add_argument(
        "--seed", type=whole_number, help="with --proofs: draw the addresses of an earlier run"
    )


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Compare balances; None where the command is to do something else."""
    if not options.proofs:
        return None
    startup.require_node(settings)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-audit")
    node = node_of_index(settings)
    try:
        return ProofAudit(database, node).compare(options.proofs, seed)
    except client.NodeError as error:
        print_lines(f"cannot compare with the node: {error}")
        return NOT_COMPARED
    finally:
        database.close()


class ProofAudit:
    """Compares sums with proofs. `unproven` counts addresses of which the node proves nothing, by
    the reason."""

    def __init__(self, database: Database, node: client.Node) -> None:
        self._database = database
        self._node = node
        self._drawn: set[bytes] = set()
        self.unproven: Counter[str] = Counter()

    def compare(self, count: int, seed: int) -> int:
        """Compare at most `count` addresses, print those that differ, and return the exit code.
        Raises NodeError."""
        print_lines(f"seed {seed}")
        gaps = self._database.row("audit/balances_get_gaps")
        start_block, is_cut, untraced, genesis_hash = gaps or (1, False, None, None)
        if start_block or is_cut:
            print_lines("not compared: rows of the first blocks are not indexed, or were removed")
            return NOT_COMPARED
        if untraced != 0:
            lacking = "all" if untraced is None else untraced
            print_lines(f"sums lack internal transfers: {lacking} blocks have no traces")
        genesis = served_chain.BlockId(0, bytes(genesis_hash))
        compared, differing = 0, 0
        draw = random.Random(seed)  # a run can be repeated
        for first in range(0, count, AT_ONCE):
            keys = [draw.randbytes(20) for _ in range(min(AT_ONCE, count - first))]
            for line in self._differences(keys, genesis):
                compared += 1
                differing += bool(line)
                if line:
                    print_lines(f"  {line}")
        for reason, addresses in self.unproven.items():
            print_lines(f"  not proven for {addresses} addresses: {reason}")
        print_lines(f"balances that differ from their proofs: {differing} of {compared} addresses")
        if differing:
            return DIFFERS
        return ALL_EQUAL if compared else NOT_COMPARED

    def _differences(self, keys: Sequence[bytes], genesis: served_chain.BlockId) -> Iterator[str]:
        """Yield for each address whose balance is proven by how much its history differs, in words,
        or ""."""
        rows = self._database.rows("audit/balances_draw", keys=[*keys])
        if not rows:
            return
        block = served_chain.BlockId(rows[0][0], bytes(rows[0][1]))
        drawn = {bytes(address): values for _, _, address, *values in rows}
        addresses = [address for address in drawn if address not in self._drawn]
        self._drawn.update(addresses)
        for address, balance in self._proven(addresses, block).items():
            net_wei, opening_wei, is_opening_proven = drawn[address]
            total = int(net_wei) + int(opening_wei or 0)
            if balance != total and not is_opening_proven:
                opening = self._read_genesis(address, genesis)
                total = total if opening is None else int(net_wei) + opening.balance
            yield "" if balance == total else _difference(address, total, balance, block)

    def _proven(self, addresses: Sequence[bytes], block: served_chain.BlockId) -> dict[bytes, int]:
        """Return the balances that the node proves, by address."""
        calls = [state_proofs.account_call(address, block) for address in addresses]
        header, *answers = self._node.results([state_proofs.header_call(block), *calls])
        balances = {}
        for address, answer in zip(addresses, answers, strict=True):
            try:
                if isinstance(answer, client.RpcError):
                    raise state_proofs.ImproperProof(str(answer))
                encoded = state_proofs.proven_header(block, header)
                account = state_proofs.read_account(address, block, encoded, answer)
                balances[address] = account.balance
            except state_proofs.ImproperProof as error:
                self.unproven[str(error)] += 1
        return balances

    def _read_genesis(self, address: bytes, genesis: served_chain.BlockId) -> GenesisBalance | None:
        """Return a balance at genesis from the node, and store it; None where it gives none."""
        calls = [state_proofs.header_call(genesis), state_proofs.account_call(address, genesis)]
        balance = client.Call("eth_getBalance", (to_hex(address), genesis))
        header, proof, answer = self._node.results([*calls, balance])
        try:
            encoded = state_proofs.proven_header(genesis, header)
            account = state_proofs.read_account(address, genesis, encoded, proof)
            read = GenesisBalance(account.balance, is_proven=True)
        except state_proofs.ImproperProof:
            try:
                read = GenesisBalance(quantity(answer), is_proven=False)
            except BadHex:
                return None
        with self._database.transaction() as tx:
            tx.execute("contracts/genesis_balances_put", address=address, **read._asdict())
        return read


def _difference(address: bytes, total: int, balance: int, block: served_chain.BlockId) -> str:
    difference = f"{abs(balance - total)} wei {'more' if balance > total else 'less'}"
    proven = f"proven are {balance} wei at block {block.number}: {difference} than its history"
    return f"{to_hex(address)}: its history is {total} wei, {proven}"


HOOKS = hooks.Commands(options={"audit": hooks.CommandOptions(run, add_arguments)})
