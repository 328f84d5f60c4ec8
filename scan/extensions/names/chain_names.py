"""Names on the indexed chain: by its own service, and by Ethereum's where the operator has set a
node of it (ENSIP-19).

An address's name is the one that it has chosen on this chain, else the one that it has chosen for
all chains; either counts only where it leads back to the address on this chain.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeTimedOut
from scan.extensions.names import name_services, node_names
from scan.extensions.names.node_names import COIN_TYPE, Answer, Claim, NameReads, Problem

Claims = dict[bytes, Claim]
_T = TypeVar("_T")


class Target(NamedTuple):
    """The address of a name. `coin_type` is that of an address which Ethereum's names have: 60
    where the name has none of this chain."""

    address: Answer
    coin_type: int | None = None


class ChainNames:
    """The names that one request reads. `coin_type` is that of the chain's addresses (ENSIP-11)."""

    def __init__(self, local: NameReads, l1: NameReads | None, coin_type: int) -> None:
        self._local = local
        self._l1 = l1
        self._coin_type = coin_type
        self.is_l1_late = False

    def target(self, name: str) -> Target:
        """Return the address of a normalised name. Raises UpstreamFailed, Unavailable."""
        answer = node_names.addresses_of(self._local, [name])[name]
        if answer is not None or self._l1 is None:
            return Target(answer)
        for coin_type in dict.fromkeys((self._coin_type, COIN_TYPE)):
            answer = node_names.addresses_of(self._l1, [name], coin_type)[name]
            if answer is not None:
                return Target(answer, coin_type)
        return Target(None)

    def claims(self, addresses: Sequence[bytes]) -> Claims:
        """Return what addresses have chosen and what leads back to them. Raises UpstreamFailed,
        Unavailable of the chain's own node; what Ethereum's did not answer is a problem."""
        local, checked = self._local, Claims(dict.fromkeys(addresses))
        on_l2 = node_names.names_in_registrar(local, addresses)
        chosen: Claims = {a: claim for a, claim in on_l2.items() if claim is not None}
        missing = [address for address in addresses if address not in chosen]
        local_names = node_names.names_of(local, missing)
        if local.service.interface is name_services.Interface.UNIVERSAL:
            checked |= local_names
        else:
            chosen |= local_names
        chosen |= self._defaults([a for a in missing if local_names.get(a) is None])
        return checked | self._compared(chosen)

    def _defaults(self, addresses: Sequence[bytes]) -> Claims:
        if self._l1 is None or not addresses:
            return {}
        l1, unread = self._l1, dict.fromkeys(addresses, Problem.UNREAD)
        return self._of_l1(lambda: node_names.default_names_of(l1, addresses), Claims(unread))

    def _compared(self, claims: Claims) -> Claims:
        """Return what becomes of claims that are names: nothing where the name has another
        address."""
        names = {address: claim for address, claim in claims.items() if isinstance(claim, str)}
        different = [*{*names.values()}]
        targets = node_names.addresses_of(self._local, different) if names else {}
        result: Claims = claims | {a: _claim(name, targets[name], a) for a, name in names.items()}
        astray = {a: name for a, name in names.items() if result[a] is None}
        return result | self._compared_on_l1(astray)

    def _compared_on_l1(self, names: dict[bytes, str]) -> Claims:
        if self._l1 is None or not names:
            return {}
        l1, different = self._l1, [*{*names.values()}]
        unread: dict[str, Answer] = dict.fromkeys(different, Problem.UNREAD)
        read = partial(node_names.addresses_of, l1, different, self._coin_type)
        targets = self._of_l1(read, unread)
        return {address: _claim(name, targets[name], address) for address, name in names.items()}

    def _of_l1(self, read: Callable[[], _T], otherwise: _T) -> _T:
        """Return what Ethereum's node answers, which fails for itself."""
        try:
            return read()
        except (UpstreamFailed, Unavailable) as error:
            self.is_l1_late = self.is_l1_late or isinstance(error, NodeTimedOut)
            return otherwise


def _claim(name: str, target: Answer, address: bytes) -> Claim:
    if isinstance(target, Problem):
        return target
    return name if target == address else None
