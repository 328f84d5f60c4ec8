"""ABIs for decoding calls and logs of contracts: their own and their implementations'."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from scan.cached_values import LazyMapping, SizedCache
from scan.contracts import abi_decoding, known_proxies, proxy_contracts
from scan.contracts.abi import parse_signature
from scan.contracts.abi_decoding import (
    BUILD,
    FOLLOWED,
    AbiIndex,
    DecodingBudget,
    events_of,
    functions_of,
    index_abi,
)
from scan.database.connection import Database
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum import blocks, request_node
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data

CACHE_BYTES = 32 * 1024 * 1024
BYTES_PER_CHARACTER = 12  # memory of an indexed ABI per character of its JSON, measured
SMALL_ENTRY_BYTES = 400
FACET_BYTES = 60  # memory of a diamond's facet
MAX_PROXIES = 200  # states of proxies whose implementations are read from the node at once
LAST_INDEX = 2**31 - 1  # of a transaction in a block


class Block(NamedTuple):
    """A block, in its last transaction unless an index says which."""

    number: int
    hash: str
    transaction_index: int = LAST_INDEX


class Emitter(NamedTuple):
    """A contract or account at a block, which emitted a log or was called."""

    address: bytes
    block: Block

    @property
    def after(self) -> "Emitter":
        """The contract as it was after its block."""
        return Emitter(self.address, self.block._replace(transaction_index=LAST_INDEX))

    @property
    def before(self) -> "Emitter":
        """The contract as it was before its block, of which no hash is known."""
        number, hash_, _ = self.block
        return Emitter(self.address, Block(max(0, number - 1), f"the parent of {hash_}"))


class Contract(NamedTuple):
    """A contract's ABIs, its own before its implementation's, and its token type; or those of the
    code that an account ran (EIP-7702).

    Only the node knows to which implementation its `delegation` passed calls on at a block, where
    the code alone has none; `is_of_now`: it knew only the newest one. `readings` are contracts of
    which it was one where its implementation changed in the block; `may_have_changed`: it may have
    been another one in it, or is not known. `has_code` is as ContractAbis.code_at() has it.
    `facets` are the contracts of a proxy that has several, with their ABIs.
    """

    abis: tuple[AbiIndex, ...] = ()
    token_type: str | None = None
    delegation: proxy_contracts.Delegation = proxy_contracts.NOT_DELEGATING
    is_of_now: bool = False
    has_code: bool | None = None
    readings: tuple["Contract", ...] = ()
    facets: Mapping[bytes, Sequence[AbiIndex]] = MappingProxyType({})
    may_have_changed: bool = False

    @property
    def is_doubtful(self) -> bool:
        """Whether a trace alone says which implementation the transaction's call ran."""
        return bool(self.readings) or self.may_have_changed

    @property
    def delegates(self) -> bool:
        """Whether it is a proxy by its state."""
        delegation = self.delegation
        return bool(delegation.kind) and delegation.proxy is None

    def may_have_run_another(self, topics: Sequence[bytes]) -> bool:
        """Whether its code may have run another's, which a trace alone says, to emit a log of no
        event of its own or of standards."""
        return self.delegation.may_run_others and not any(
            events for topic in topics[:1] for events in events_of(topic, self.abis, None)
        )


def _with_lent(contract: Contract, abis: Iterable[AbiIndex]) -> Contract:
    """Return a contract with the ABIs of its implementation, too."""
    lent = list(contract.abis)
    lent += (abi for abi in abis if abi not in lent)
    return contract._replace(abis=tuple(lent))


def lent_by(proxy: proxy_contracts.Proxy, implementation: bytes, abi: AbiIndex) -> AbiIndex:
    """Return the ABI of a proxy's implementation with the evidence that it runs for the proxy; of a
    router with the functions alone that traces show."""
    traced = proxy.traced(implementation)
    if proxy.kind == proxy_contracts.ROUTER:
        abi = abi._replace(functions={s: of for s, of in abi.functions.items() if s in traced})
    return abi._replace(evidence=proxy.evidence, traced=traced)


def ran(abis: Iterable[AbiIndex]) -> list[AbiIndex]:
    """Return ABIs of code of which a trace shows that it ran for a proxy."""
    return [abi._replace(evidence=abi_decoding.TRACE, traced=abi.functions.keys()) for abi in abis]


def emitting(codes: Sequence[Contract], topics: Sequence[bytes]) -> Contract:
    """Return the last of contracts while the code of the first ran for the others, with the ABIs of
    the first that declares the event of a log, or of all."""
    declaring = (
        code for code in codes if topics and any(topics[0] in abi.events for abi in code.abis)
    )
    first = next(declaring, None)
    abis = first.abis if first else tuple(abi for code in codes for abi in code.abis)
    abis = tuple(ran(abis)) if len(codes) > 1 else abis
    return codes[-1]._replace(abis=abis) if codes else NO_CONTRACT


_ABI_KEY = ("codeHash", "verifiedAddress", "verifiedAt", "builtAt", "hasInterface", "followedAbi")
NO_CONTRACT = Contract()
NOW = Block(2**43 - 1, "the head")  # the largest number that the database has ordinals for


def block_of(transaction: Mapping[str, Any]) -> Block:
    """Return the block of a transaction's record."""
    if transaction.get("blockNumber") is None:
        return NOW
    number, hash_ = transaction["blockNumber"], transaction["blockHash"]
    return Block(number, hash_, transaction["transactionIndex"])


NO_PROXY = proxy_contracts.Proxy("", b"", "")


@cache
def _coin_abi() -> AbiIndex:
    """Return the event by which the protocol itself logs transfers of coin (EIP-7708)."""
    event = parse_signature("Transfer(address indexed from, address indexed to, uint256 value)")
    return index_abi([{"type": "event", **event}], "protocol")


class ContractAbis:
    """The ABIs of contracts, looked up for all contracts of a transaction or page at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._abis: SizedCache[AbiIndex] = SizedCache(CACHE_BYTES)
        self._codes: SizedCache[proxy_contracts.Delegation] = SizedCache(CACHE_BYTES // 8)
        self._implementations: SizedCache[proxy_contracts.Proxy] = SizedCache(CACHE_BYTES // 8)

    def find(self, addresses: Collection[bytes], budget: DecodingBudget) -> dict[bytes, Contract]:
        """Return contracts() as they are now, by address."""
        contracts = self.contracts({Emitter(address, NOW) for address in addresses}, budget)
        return {emitter.address: contract for emitter, contract in contracts.items()}

    def contracts(
        self, emitters: Collection[Emitter], budget: DecodingBudget
    ) -> dict[Emitter, Contract]:
        """Return the contracts whose code emitters ran. ABIs beyond the budget are not read.

        Those whose code has the implementation also get its ABI, other proxies only their own; a
        proxy by state is also what passes all calls on to the code of one.
        """
        contracts: dict[Emitter, Contract] = {}
        codes = {emitter: emitter for emitter in emitters}  # that run
        for step in range(proxy_contracts.MAX_TARGETS):
            rows = self._rows({*codes.values()})
            delegations, abis = self._delegations(rows), self._abis_of(rows, budget)
            targets: dict[Emitter, Emitter] = {}
            for emitter, code in codes.items():
                if code not in rows:
                    continue
                delegation = delegations[code]
                if step:
                    contract = contracts[emitter]
                    delegation = delegation._replace(calls=())  # of what it was called itself
                    lent = [abis[code]._replace(evidence=abi_decoding.CODE)] if code in abis else ()
                else:
                    contract = Contract((), rows[code]["tokenType"], has_code=True)
                    lent = [abis[code]] if code in abis else ()
                contracts[emitter] = _with_lent(contract, lent)._replace(delegation=delegation)
                if delegation.proxy:
                    targets[emitter] = Emitter(delegation.proxy.implementation, emitter.block)
            if step == 0:
                for e, (has_code, delegate) in self._ran(
                    [e for e in codes if e not in rows]
                ).items():
                    contracts[e] = Contract(has_code=has_code)
                    targets |= {} if delegate is None else {e: delegate}
            codes = targets
        coin = [emitter for emitter in emitters if emitter.address == blocks.COIN_EMITTER]
        if coin and self._database.value("contracts/coin_logs_exist"):
            contracts |= {e: contracts[e]._replace(abis=(_coin_abi(),)) for e in coin}
        return contracts

    def code_at(self, called: Collection[Emitter]) -> dict[Emitter, bool | None]:
        """Return whether transactions ran code at what they called; None where that is not known.
        Of an address without indexed code False holds where an indexed transaction sent data to it,
        with whose block the indexer read its code."""
        rows = self._rows(called)
        rest = self._ran([account for account in called if account not in rows])
        return dict.fromkeys(rows, True) | {e: has_code for e, (has_code, _) in rest.items()}

    def _ran(
        self, accounts: Sequence[Emitter]
    ) -> dict[Emitter, tuple[bool | None, Emitter | None]]:
        """Return whether accounts without own code ran any, and the contract whose code they ran
        (EIP-7702)."""
        if not accounts:
            return {}
        rows = self._database.rows(
            "contracts/delegates_list",
            addresses=[account.address for account in accounts],
            blocks=[account.block.number for account in accounts],
            transaction_indexes=[account.block.transaction_index for account in accounts],
        )
        return {
            account: (None if may_have_run or account.block == NOW else False, None)
            if delegate is None
            else (True, Emitter(bytes(delegate), account.block))
            for account, (delegate, may_have_run) in zip(accounts, rows, strict=True)
        }

    def find_at(
        self,
        emitters: Collection[Emitter],
        node: request_node.NodeSession,
        budget: DecodingBudget,
        implementations: Mapping[bytes, Sequence[bytes]] = {},
    ) -> dict[Emitter, Contract]:
        """Return contracts() with the ABIs of all proxies' implementations after the emitter's
        block and before it, as either may have run in it, or now if the node has no state of that
        block. Those of the addresses in `implementations` are in it. Raises the errors of
        NodeSession."""
        contracts = self.contracts(emitters, budget)
        targets = {e: implementations[e.address] for e in emitters if e.address in implementations}
        of_state = {
            e: contract.delegation
            for e, contract in contracts.items()
            if contract.delegates and e not in targets
        }
        states = {s: delegation for e, delegation in of_state.items() for s in (e.after, e.before)}
        proxies = self._implementations_of(states, node)
        changed = {}
        stated: dict[Emitter, Sequence[proxy_contracts.Proxy]] = {}
        for emitter in of_state:
            both = [proxies[e] for e in (emitter.after, emitter.before) if e in proxies]
            targets[emitter] = [*dict.fromkeys(a for proxy in both for a in proxy.implementations)]
            stated[emitter] = both
            is_of_now = any(proxy.is_of_now for proxy in both)
            contracts[emitter] = contracts[emitter]._replace(is_of_now=is_of_now)
            if len({proxy.implementations for proxy in both}) > 1:
                changed[emitter] = [proxy.implementations for proxy in both]
        codes = {e: [Emitter(code, e.block) for code in targets[e]] for e in targets}
        of_codes = self.contracts({code for lent in codes.values() for code in lent}, budget)

        def lent_to(emitter: Emitter, implementations: Iterable[bytes]) -> Contract:
            contract = contracts.get(emitter, NO_CONTRACT)
            facets: dict[bytes, list[AbiIndex]] = {}
            for code in implementations:
                of = of_codes.get(Emitter(code, emitter.block), NO_CONTRACT).abis
                by = next((p for p in stated.get(emitter, ()) if code in p.implementations), None)
                facets[code] = [lent_by(by, code, abi) for abi in of] if by else ran(of)
            lent = _with_lent(contract, (abi for abis in facets.values() for abi in abis))
            has_several = any(proxy.others for proxy in stated.get(emitter, ()))
            return lent._replace(facets=facets) if has_several else lent

        readings = {e: tuple(lent_to(e, one) for one in both) for e, both in changed.items()}
        disturbed = self._disturbed([e for e in of_state if e not in changed])
        contracts |= {
            e: lent_to(e, targets[e])._replace(
                readings=readings.get(e, ()), may_have_changed=e in disturbed or not targets[e]
            )
            for e in targets
        }
        return contracts

    def _disturbed(self, proxies: Collection[Emitter]) -> Collection[Emitter]:
        """Return the proxies before whose transaction another one of the block ran code: any may
        have changed the implementation, and a later one may have changed it back."""
        if not proxies:
            return ()
        at = [*proxies]
        rows = self._database.rows(
            "contracts/earlier_calls_exist",
            numbers=[e.block.number for e in at],
            transaction_indexes=[e.block.transaction_index for e in at],
        )
        return {e for e, (is_disturbed,) in zip(at, rows, strict=True) if is_disturbed}

    def of_call(
        self,
        contract: Contract,
        emitter: Emitter,
        calldata: bytes,
        node: request_node.NodeSession,
        budget: DecodingBudget,
    ) -> Contract:
        """Return a contract as find_at() did, of one with several facets with the ABI of the one
        alone to which it passed a call on: by traces, or else by what a diamond names. Without any
        where it names none."""
        if not contract.facets:
            return contract
        own, selector = self.contracts([emitter], budget)[emitter], calldata[:4]
        facets = [
            facet
            for facet, abis in contract.facets.items()
            if any(selector in abi.traced for abi in abis)
        ]
        try:
            blocks = () if facets else self._indexed({emitter.block, emitter.before.block}).values()
            named = [
                proxy_contracts.facet_of(node, emitter.address, selector, block) for block in blocks
            ]
            facets += [facet for facet in contract.facets if facet in named]
        except BadHex:
            pass
        except (UpstreamFailed, Unavailable):
            if not node.failed:
                raise
        return _with_lent(own, [abi for facet in facets for abi in contract.facets[facet]])

    def stated_at(
        self, addresses: Iterable[bytes], block: Block, node: request_node.NodeSession
    ) -> dict[bytes, proxy_contracts.Proxy]:
        """Return the proxies of which implementations are stated that did not change in a block.
        Raises the errors of NodeSession."""
        emitters = {Emitter(address, block) for address in addresses}
        codes = self._delegations(self._rows(emitters))
        stated = {e.address: code.proxy for e, code in codes.items() if code.proxy}
        by_state = {e: code for e, code in codes.items() if code.kind and not code.proxy}
        states = {s: code for e, code in by_state.items() for s in (e.after, e.before)}
        proxies = self._implementations_of(states, node)
        for emitter in by_state:
            after, before = proxies.get(emitter.after), proxies.get(emitter.before)
            if after and before and after.implementations == before.implementations != ():
                stated[emitter.address] = after
        return stated

    def find_at_or_now(
        self,
        addresses: Iterable[bytes],
        block: Block,
        node: request_node.NodeSession,
        budget: DecodingBudget,
        implementations: Mapping[bytes, Sequence[bytes]] = {},
    ) -> dict[bytes, Contract]:
        """Return the contracts at a block by address, as find_at() does, or as contracts() does
        where the node does not respond."""
        emitters = [Emitter(address, block) for address in addresses]
        try:
            contracts = self.find_at(emitters, node, budget, implementations)
        except (UpstreamFailed, Unavailable):
            if not node.failed:
                raise
            contracts = self.contracts(emitters, budget)
        return {emitter.address: contract for emitter, contract in contracts.items()}

    def proxies_at(
        self,
        addresses: Iterable[bytes],
        block: Block,
        node: request_node.NodeSession,
        overridden: Mapping[bytes, proxy_contracts.Words] = {},
    ) -> dict[bytes, proxy_contracts.Proxy]:
        """Return the proxies among contracts at a block, by their code or their state, or by
        overridden slots. Raises the errors of NodeSession."""
        codes = self._delegations(self._rows({Emitter(address, block) for address in addresses}))
        by_state = {e: code for e, code in codes.items() if code.kind and not code.proxy}
        proxies = {e: code.proxy for e, code in codes.items() if code.proxy}
        proxies |= self._implementations_of(by_state, node, overridden)
        return {emitter.address: proxy for emitter, proxy in proxies.items()}

    def function_text(self, selector: bytes, contract: Contract) -> str | None:
        """Return the signature of a contract's function; None where it is unknown or ambiguous."""
        if len(selector) < 4:
            return None
        entry = next(functions_of(selector, contract.abis, contract.token_type), None)
        if entry is not None:
            return entry.signature
        signatures = self.imported([selector]).get(selector, [])
        return signatures[0] if len(signatures) == 1 else None

    def imported(self, selectors: Collection[bytes]) -> dict[bytes, list[str]]:
        """Return the signatures that operators imported, by selector."""
        return self._signatures("contracts/signatures_find", selectors)

    def imported_if_needed(self, selectors: Iterable[bytes]) -> Mapping[bytes, Sequence[str]]:
        """Return the same of all that have four bytes, read with the first that is looked up: most
        calls and logs are decoded by ABIs."""
        return LazyMapping(lambda: self.imported({one for one in selectors if len(one) == 4}))

    def of_verified_contracts(self, selectors: Collection[bytes]) -> dict[bytes, list[str]]:
        """Return the signatures that any verified contracts have, by selector, at most two of
        each."""
        return self._signatures("contracts/verified_functions_find", selectors)

    def _signatures(self, statement: str, selectors: Collection[bytes]) -> dict[bytes, list[str]]:
        if not selectors:
            return {}
        signatures = self._database.value(statement, selectors=sorted(selectors))
        return {data(selector): texts for selector, texts in orjson.loads(signatures).items()}

    def _rows(self, emitters: Collection[Emitter]) -> dict[Emitter, Mapping[str, Any]]:
        """Return what stood at the emitters' blocks."""
        if not emitters:
            return {}
        numbers = {emitter.block.number for emitter in emitters}
        rows = self._database.value(
            "contracts/contracts_find",
            addresses=sorted({emitter.address for emitter in emitters}),
            first_block=min(numbers),
            last_block=max(numbers),
        )
        lives = defaultdict(list)
        for row in orjson.loads(rows):
            lives[data(row["address"])].append(row)
        return {
            emitter: row
            for emitter in emitters
            for row in lives.get(emitter.address, ())
            if emitter.block.number <= row["lastBlock"]
            and (row["firstBlock"], row["firstIndex"])
            <= (emitter.block.number, emitter.block.transaction_index)
        }

    def _abis_of(
        self, rows: Mapping[Emitter, Mapping[str, Any]], budget: DecodingBudget
    ) -> dict[Emitter, AbiIndex]:
        """Return the ABIs of contracts that are verified, or that the operator has built, with the
        events that he gave of followed ones. Those with the same code share an ABI, which is read
        once."""
        abis: dict[Emitter, AbiIndex] = {}
        read: dict[tuple[Any, ...], AbiIndex] = {}
        for emitter, row in rows.items():
            key = tuple(row[name] for name in _ABI_KEY)
            if not any(key[1:]):
                continue
            index = read.get(key) or self._abis.get(key)
            if index is None and budget.allows():
                entries = self._interface(row)
                index = index_abi(entries or (), "verified" if row["verifiedAddress"] else BUILD)
                if row["followedAbi"]:
                    index = self._with_followed(index, data(row["address"]))
                self._abis.store(key, index, BYTES_PER_CHARACTER * len(orjson.dumps(entries)))
            if index is not None:
                abis[emitter] = read[key] = index
        return abis

    def _with_followed(self, index: AbiIndex, address: bytes) -> AbiIndex:
        given = self._database.value("contracts/followed_abis_get", address=address)
        of = index_abi(given or (), FOLLOWED)
        anonymous = {**of.anonymous, **index.anonymous}
        return index._replace(events={**of.events, **index.events}, anonymous=anonymous)

    def _interface(self, row: Mapping[str, Any]) -> Any:
        code_hash = data(row["codeHash"])
        if row["verifiedAddress"]:
            return self._database.value(
                "contracts/verified_contracts_get_interface",
                code_hash=code_hash,
                address=data(row["verifiedAddress"]),
            )
        return self._database.value("contracts/built_abis_get_interface", code_hash=code_hash)

    def _delegations(
        self, rows: Mapping[Emitter, Mapping[str, Any]]
    ) -> dict[Emitter, proxy_contracts.Delegation]:
        """Return how the codes of rows pass calls on; of those that are known it is kept."""
        kept = {emitter: self._codes.get(row["codeHash"]) for emitter, row in rows.items()}
        missing = [emitter for emitter, delegation in kept.items() if delegation is None]
        read = missing and self._database.rows(
            "contracts/codes_list_delegations",
            code_hashes=[data(rows[e]["codeHash"]) for e in missing],
            addresses=[e.address for e in missing],
            block_numbers=[e.block.number for e in missing],
        )
        for emitter, (text, calls) in zip(missing, read, strict=True):
            delegation = proxy_contracts.stored_delegation(text, calls)
            kept[emitter] = delegation
            if text is not None and not text.startswith(known_proxies.UNKNOWN):
                self._codes.store(rows[emitter]["codeHash"], delegation, SMALL_ENTRY_BYTES)
        return {e: of or proxy_contracts.NOT_DELEGATING for e, of in kept.items()}

    def _indexed(self, blocks: Collection[Block]) -> dict[Block, BlockId | None]:
        """Return blocks with their hashes; None for those that are not indexed."""
        numbers = [block.number for block in blocks if block.hash[:2] != "0x"]
        statement = "contracts/blocks_list_hashes"
        rows = self._database.rows(statement, numbers=numbers) if numbers else []
        hashes: dict[int, Any] = dict(rows)
        return {
            b: BlockId.of(b.number, data(b.hash) if b.hash[:2] == "0x" else hashes.get(b.number))
            for b in blocks
        }

    def _implementations_of(
        self,
        emitters: Mapping[Emitter, proxy_contracts.Delegation],
        node: request_node.NodeSession,
        overridden: Mapping[bytes, proxy_contracts.Words] = {},
    ) -> dict[Emitter, proxy_contracts.Proxy]:
        """Return the proxies among emitters. They are cached by emitter, as the state at a block's
        hash cannot change, unless slots are overridden."""
        kept = SizedCache[proxy_contracts.Proxy](0) if overridden else self._implementations
        cached = {emitter: kept.get(emitter) for emitter in emitters}
        missing = [emitter for emitter in emitters if cached[emitter] is None][:MAX_PROXIES]
        try:
            blocks = self._indexed({emitter.block for emitter in missing})
            proxies = [(e.address, emitters[e], blocks[e.block]) for e in missing]
            read = proxy_contracts.at_blocks(node, proxies, overridden)
        except BadHex:
            missing, read = [], []  # a malformed answer is not cached
        for emitter, proxy in zip(missing, read, strict=True):
            cached[emitter] = stored = proxy or NO_PROXY
            size = SMALL_ENTRY_BYTES + FACET_BYTES * (len(stored.others) + len(stored.routes))
            if not node.failed:  # else they may be of the node's latest block
                kept.store(emitter, stored, size)
        return {emitter: proxy for emitter, proxy in cached.items() if proxy and proxy != NO_PROXY}
