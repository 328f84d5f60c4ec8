"""The contracts in a batch of blocks: code, tokens and pools, read from the node where new."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from scan.contracts.known_proxies import delegation_text
from scan.database.connection import Database
from scan.ethereum import events, rlp_and_tries, token_metadata
from scan.ethereum.blocks import DELEGATION
from scan.hex import to_hex
from scan.indexer import contract_state as state
from scan.indexer.block_rows import BlockContracts, Claim, TransferLog, transfer_line

MAX_CONTRACTS = 200_000
TOKENS_AT_ONCE = 100
MOST_EVENTLESS = 1000  # contracts of a development chain that are looked at together for tokens

Batch = Sequence[BlockContracts]
_Tried = dict[bytes, tuple[int, int]]  # the first and last block of each contract


class ContractInspector:
    """Finds the tokens, pools and code behind logs. Each contract is read from the node once.

    An inspector remembers the contracts of the blocks that it has inspected: after a
    reorganisation, a failed write or a head of another writer, a new inspector is needed.
    """

    def __init__(
        self, reader: state.StateReader, database: Database, factories: state.Factories
    ) -> None:
        self._state = reader
        self._database = database
        self._factories = factories
        self._contracts: dict[bytes, state.InspectedContract] = {}
        # The last block of the batch of a finding, by its contract.
        self._inspected_at: dict[bytes, int] = {}
        self._without_token: dict[bytes, bytes] = {}  # hashes of code that was looked at
        self._after = b""  # the contract up to which they were looked at
        self.stored_to = -1  # the block up to which all findings are in the database

    def inspect(self, batch: Batch) -> state.ContractFindings:
        """Return the findings of a batch. Only contracts that were not seen before are read from
        the node, each at its block. Raises NodeError.

        Batches before this one may still be on their way into the database.
        """
        contracts = (
            chain(
                block.possible_contracts,
                block.changed,
                block.called,
                (swap.pool for swap, _ in block.swap_logs),
                (pool.pool for pool in block.pool_events),
            )
            for block in batch
        )
        self._load_contracts(set(chain.from_iterable(contracts)))
        findings = state.ContractFindings(*([] for _ in state.ContractFindings._fields))
        for blocks in self._between_changes(batch):
            self._inspect(blocks, findings)
        calls = ((block.number, address) for block in batch for address in block.called)
        findings.changes.extend(self.changes_by_calls(calls))
        findings.changes[:] = sorted(set(findings.changes))
        recorded: Iterable[Any] = chain(
            findings.codes,
            findings.ends,
            findings.tokens,
            findings.wrappers,
            findings.rejections,
            findings.pools,
        )
        self._inspected_at |= {finding.address: batch[-1].number for finding in recorded}
        return findings

    def _between_changes(self, batch: Batch) -> Iterator[Batch]:
        """Yield the blocks of a batch up to each one that may change what a token is, and alone
        those in which so many contracts are unknown that they share what is asked of the node.

        A token that is in question in one of the blocks that are yielded together emits in no other
        of them: what is tried, and when, does not depend on how blocks come in batches."""
        first, emitters, in_question = 0, set[bytes](), set[bytes]()
        was_crowded = False
        for index, block in enumerate(batch):
            tokens = {log.token for log in block.transfer_logs}
            questions, is_crowded = self._questions(block)
            if index > first and (
                is_crowded
                or was_crowded
                or not emitters.isdisjoint(questions)
                or not in_question.isdisjoint(tokens)
                or any(
                    address in emitters or self._contracts[address].token_type
                    for address in block.changed | block.created
                )
                or any(self._is_late(address, block.number) for address in tokens)
            ):
                yield batch[first:index]
                first, emitters, in_question = index, set(), set()
                questions, is_crowded = self._questions(block)  # as is known by now
            was_crowded = is_crowded
            emitters |= tokens
            in_question |= questions
        yield batch[first:]

    def _questions(self, block: BlockContracts) -> tuple[set[bytes], bool]:
        """Return the tokens that a block's events may have read, and whether there are so many of
        them, or of pools, that they share what is asked of the node."""
        number, logs = block.number, _first_logs(block)
        unknown = {
            (log.token, log.shape in events.CLAIMS)
            for log in logs
            if log.token in block.changed
            or log.token in block.created
            or (
                self._is_open(log)
                and (
                    log.shape not in events.CLAIMS
                    or self._begin_try("token", {}, log.token, number)
                )
            )
        }
        doubtful = {
            log.token
            for log in logs
            if self._may_be_retyped(log, number) and self._begin_try("type", {}, log.token, number)
        }
        pools = {s.pool for s, _ in block.swap_logs if self._contracts[s.pool].pool is None}
        is_crowded = max(len(unknown), len(doubtful), len(pools)) > state.CROWD
        return doubtful.union(token for token, _ in unknown), is_crowded

    def _is_late(self, address: bytes, number: int) -> bool:
        """Return whether a token that was not read when it should be is now, as it emits."""
        tries = self._contracts[address].rejected.get("unread")
        return tries is not None and state.is_reading_due(number, tries.first, tries.last)

    def _inspect(self, batch: Batch, findings: state.ContractFindings) -> None:
        """Inspect blocks of which only the first may change what a token is."""
        has_code = self._read_codes(batch, findings)
        if batch:
            self._change_tokens(batch[0], has_code, findings)
        while self._find_tokens(batch, findings) or self._change_types(batch, findings):
            pass
        if any(block.swap_logs or block.pool_events for block in batch):
            self._find_pools(batch, findings)
        for block in batch:
            for log in block.transfer_logs:
                life = self._contracts[log.token].life_at(block.number, log.log_index)
                if life is None:
                    continue
                since = life.wraps_since
                if log.shape in events.WRAPPING and (since is None or block.number < since):
                    continue
                moved = log.shape, log.to_address, log.words
                to, moves = events.amounts(*moved, life.type, life.item_type)
                for batch_index, (value, token_id) in enumerate(moves):
                    line = transfer_line(log.row, to, batch_index, value, token_id)
                    findings.transfers.append((block.number, line))
            for swap, row in block.swap_logs:
                pool = self._contracts[swap.pool].pool
                if pool is not None and pool.block_number <= block.number:
                    trade = events.trade(swap, pool.token0, pool.token1)
                    findings.trades.append(state.PoolTrade(block.number, row, pool.dex, trade))

    def eventless_tokens(self, head: state.BlockId) -> state.ContractFindings:
        """Return contracts as tokens that answer as such at the head, without any event of theirs:
        on a development chain their balances need none, as after anvil_setCode, and on its fork
        their transfers are older than the index. Raises NodeError."""
        findings = state.ContractFindings(*([] for _ in state.ContractFindings._fields))
        rows = self._database.rows(
            "indexer/contracts_list_without_token", after=self._after, limit=MOST_EVENTLESS
        )
        contracts = {bytes(address): bytes(code_hash) for address, code_hash in rows}
        known, is_last = self._without_token, len(contracts) < MOST_EVENTLESS
        unread = [a for a, code_hash in contracts.items() if known.get(a) != code_hash]
        addresses = {*unread[:TOKENS_AT_ONCE]}
        if len(unread) == len(addresses):  # the next time goes on after these, or begins anew
            self._after = b"" if is_last else max(contracts)
        self._load_contracts(addresses)
        answers = self._metadata_at(dict.fromkeys(addresses, head), state.MOST_CALL_GAS)
        for address, metadata in answers.items():
            if (type_ := token_metadata.eventless_type(metadata)) is not None:
                since, shape = (head.number, 0), events.SHAPES[type_]
                token = self._new_token(address, since, shape, metadata, has_labels=False)
                findings.tokens.append(token)
        if len(known) > MAX_CONTRACTS:
            known.clear()
        known |= {address: contracts[address] for address in addresses}
        return findings

    def unsettled(self, sight: str, addresses: Iterable[bytes]) -> set[bytes]:
        """Return those of the addresses that are not known as a token, a wrapper or a pool."""
        unknown = set(addresses)
        self._load_contracts(unknown)
        attribute = {"wrap": "wraps_since", "swap": "pool"}.get(sight, "token_type")
        return {a for a in unknown if getattr(self._contracts[a], attribute) is None}

    def doubtful(self, forms: Iterable[tuple[bytes, str]]) -> set[bytes]:
        """Return those tokens whose type events of these forms make doubtful, or did before."""
        shapes = [(address, events.TransferShape(form)) for address, form in forms]
        self._load_contracts({address for address, _ in shapes})
        return {address for address, shape in shapes if self._is_doubtful(address, shape)}

    def tokens_among(self, addresses: Sequence[bytes]) -> list[bytes]:
        """Return those of the addresses that are or were tokens."""
        self._load_contracts({*addresses})
        known = self._contracts
        return [a for a in addresses if known[a].token_type or known[a].ended_lives]

    def unread_among(self, addresses: Iterable[bytes]) -> set[bytes]:
        """Return those of the addresses that are tokens that were not read when they should be."""
        self._load_contracts({*addresses})
        return {a for a in addresses if "unread" in self._contracts[a].rejected}

    def without_code(self, addresses: Iterable[bytes]) -> set[bytes]:
        """Return those of the last batch's addresses that have no known code."""
        return {address for address in addresses if self._contracts[address].code_hash is None}

    def disconnect(self) -> None:
        """Close this thread's connection: the server ends connections that are idle too long."""
        self._database.close()

    def _load_contracts(self, addresses: set[bytes]) -> None:
        """Load the stored state of contracts that are not in memory yet."""
        if len(self._contracts) > MAX_CONTRACTS:
            at = self._inspected_at.items()
            self._inspected_at = {address: n for address, n in at if n > self.stored_to}
            self._contracts = {address: self._contracts[address] for address in self._inspected_at}
        unknown = [address for address in addresses if address not in self._contracts]
        if not unknown:
            return
        for address, *token, dex, token0, token1, rejected, code_hash in self._database.rows(
            "indexer/emitters_list_known", addresses=unknown
        ):
            contract = self._contracts[bytes(address)] = state.InspectedContract(*token)
            if dex is not None:
                contract.pool = state.NewPool(bytes(address), 0, dex, bytes(token0), bytes(token1))
            contract.rejected = {claim: state.Tries(*tries) for claim, tries in rejected.items()}
            contract.code_hash = None if code_hash is None else bytes(code_hash)

    # Code

    def _read_codes(
        self, batch: Batch, findings: state.ContractFindings
    ) -> dict[state.StateQuery, bool]:
        """Find the code of contracts that had none before, or that began or ended in a block: one
        that is created where another is known has code of its own, be it the same. Return whether
        each query of a code has any."""
        blocks = {
            state.StateQuery(address, None, state.block_id(block)): block
            for block in batch
            for address in chain(
                (
                    address
                    for address in block.possible_contracts
                    if address in block.created or self._contracts[address].code_hash is None
                ),
                sorted(
                    (
                        address
                        for address in block.changed - block.created
                        if self._contracts[address].code_hash is not None
                    ),
                    key=self._turn,
                )[: state.MOST_CODES],
            )
        }
        has_code = {}
        for query, code in self._state.results(blocks):
            address, block, contract = query.address, blocks[query], self._contracts[query.address]
            has_code[query] = bool(code)
            is_created = address in block.created
            if contract.code_hash is not None and not (is_created or address in block.changed):
                continue
            code = b"" if code is None or code.startswith(DELEGATION) else code
            code_hash = rlp_and_tries.keccak256(code) if code else None
            if code_hash != contract.code_hash or (is_created and code):
                contract.code_hash = code_hash
                findings.codes.append(
                    state.ContractCode(
                        address, block.number, code_hash, code, delegation_text(code)
                    )
                )
        return has_code

    def _turn(self, address: bytes) -> tuple[object, ...]:
        """Return a contract's place among those that a block may change: of those that cause the
        most readings the last, and older tokens before newer ones and before others."""
        contract = self._contracts[address]
        tried = self._tried(address, "change", "unread")
        return contract.token_type is None, tried, contract.token_since, address

    # Tokens

    def _change_tokens(
        self,
        block: BlockContracts,
        has_code: Mapping[state.StateQuery, bool],
        findings: state.ContractFindings,
    ) -> None:
        """Find the older tokens that a block may change, and the ends of lives: their code ended
        there, or began anew, or what it answers is of another type, as which they go on."""
        number = block.number
        late = {log.token for log in block.transfer_logs if self._is_late(log.token, number)}
        contracts = {
            address: contract
            for address in sorted(block.changed | block.created | late, key=self._turn)
            if (contract := self._contracts[address]).token_type
            and contract.token_since[0] < number
        }
        if not contracts:
            return
        at = state.block_id(block)
        queries = [state.StateQuery(address, None, at) for address in contracts]
        unread = [query for query in queries if query not in has_code][: state.MOST_CODES]
        has_code = {**has_code, **{q: bool(code) for q, code in self._state.results(unread)}}
        ended = {query.address for query in queries if has_code.get(query) is False}
        without_token = ended | block.created  # until a transfer shows another one
        due = [
            address
            for address, contract in contracts.items()
            if address in without_token | late
            or state.is_change_due(number, contract.rejected.get("change"))
        ]
        # Each before the block, too, where its life ends.
        gas, count = state.shared_gas([2 * state.TOKEN_CALLS] * len(due))
        present = self._metadata_at(dict.fromkeys(due[:count], at), gas)
        for address in due:
            if address not in present or address in late:
                self._reject(address, "unread", number, findings)
            if address in present and address not in late:
                self._reject(address, "change", number, findings)
        shapes = {a: events.SHAPES[contract.token_type or ""] for a, contract in contracts.items()}
        ending = [
            address
            for address, contract in contracts.items()
            if address in without_token
            or (address in present and self._is_of_another_type(address, present[address]))
        ]
        before = state.BlockId(number - 1, block.parent_hash)
        read = dict.fromkeys((address for address in ending if address in due[:count]), before)
        lasts = self._metadata_at(read, gas)
        for address in ending:
            end_block = number + (address in ended)
            last = lasts.get(address, state.UNREAD)
            findings.ends.append(self._end_life(address, number, end_block, last))
            if address not in without_token:
                of_token = (number, 0), shapes[address], present[address]
                findings.tokens.append(self._new_token(address, *of_token, has_labels=True))
        findings.changes.extend(state.ContractChange(address, number) for address in contracts)

    def changes_by_calls(
        self, calls: Iterable[tuple[int, bytes]]
    ) -> Iterator[state.ContractChange]:
        """Yield the changes by calls, each of a block and a contract, of what was a token."""
        for number, address in calls:
            life = self._contracts[address].life_at(number, 0)
            if life is not None and life.since[0] < number:
                yield state.ContractChange(address, number)

    def _end_life(
        self, address: bytes, number: int, end_block: int, last: token_metadata.TokenMetadata
    ) -> state.TokenEnd:
        self._contracts[address].end_life(end_block)
        labels = last.name, last.symbol, last.decimals, last.total_supply
        return state.TokenEnd(address, number, end_block, *labels)

    def _metadata_at(
        self, blocks: Mapping[bytes, state.BlockId], gas: int
    ) -> dict[bytes, token_metadata.TokenMetadata]:
        """Return what each address answers at its block, without those that are unread."""
        queries = {a: state.token_queries(a, at, gas) for a, at in blocks.items()}
        results = self._state.read(chain.from_iterable(queries.values()))
        answers = {a: [results[query] for query in of_token] for a, of_token in queries.items()}
        return {
            address: token_metadata.decode_token_metadata(of_token)
            for address, of_token in answers.items()
            if not state.is_unread(of_token, gas)
        }

    def _tried(self, address: bytes, *claims: str) -> int:
        rejected = self._contracts[address].rejected
        return sum(rejected[claim].times for claim in claims if claim in rejected)

    def _new_token(
        self,
        address: bytes,
        since: tuple[int, int],
        shape: events.TransferShape,
        metadata: token_metadata.TokenMetadata,
        *,
        has_labels: bool,
        has_holdings: bool = True,
    ) -> state.NewToken:
        contract = self._contracts[address]
        contract.token_type, contract.token_since = events.token_type(shape, metadata), since
        contract.item_type = events.items_beside(contract.token_type, shape, metadata)
        contract.has_holdings = has_holdings
        return state.NewToken(
            address,
            *since,
            contract.token_type,
            metadata.name,
            metadata.symbol,
            metadata.decimals,
            metadata.total_supply,
            contract.item_type,
            contract.has_holdings,
            None if address in self._state.unreadable or not has_labels else since[0],
            is_first=contract.may_begin_at is None,
        )

    def _find_tokens(self, batch: Batch, findings: state.ContractFindings) -> set[bytes]:
        """Find tokens and wrappers; return those whose life ends in its first block: the batch may
        have another life of them, which is yet to be found."""
        ended = set[bytes]()
        logs = self._deciding_logs(batch)
        if not logs:
            return ended
        calls = [state.TOKEN_CALLS + state.CLAIM_CALLS * bool(log.claim) for _, log in logs]
        gas, count = _gas(batch, calls)
        for start in range(0, len(logs), TOKENS_AT_ONCE):  # whose results are then released
            chunk = logs[start : start + TOKENS_AT_ONCE]
            read = chunk[: max(count - start, 0)]
            queries = [
                state.token_queries(log.token, state.block_id(block), gas)
                + state.claim_queries(block, log.token, log.claim, gas)
                for block, log in read
            ]
            results = self._state.read(chain.from_iterable(queries))
            before_end, bare = self._metadata_before_end(read, results, gas)
            queries += [[]] * (len(chunk) - len(read))
            for (block, log), of_log in zip(chunk, queries, strict=True):
                if log.token in ended:
                    continue
                answers = [results[query] for query in of_log]
                of_token, of_claim = answers[: state.TOKEN_CALLS], answers[state.TOKEN_CALLS :]
                is_unread = state.is_unread(of_token, gas)
                metadata = state.UNREAD if is_unread else _metadata(log.claim, answers)
                contract = self._contracts[log.token]
                is_wrap = log.shape in events.WRAPPING
                begins_wrapping = is_wrap and contract.wraps_since is None
                shown = log.shape, metadata, log.claim, of_claim
                is_decided = contract.token_type is not None and not begins_wrapping
                if not is_decided and not events.is_of_token(*shown):
                    self._reject(log.token, "token", block.number, findings)
                    continue
                if is_unread:
                    self._reject(log.token, "unread", block.number, findings)
                if begins_wrapping:
                    contract.wraps_since = block.number
                    findings.wrappers.append(state.NewWrapper(log.token, block.number))
                if contract.token_type is None:
                    number = block.number
                    since = number, log.log_index
                    last = None if is_wrap else before_end.get(log.token)
                    # What was given little gas may have functions.
                    has_holdings = is_unread or metadata.has_functions or log.token not in bare
                    has_labels = last is not None or {*map(bool, of_token[:2])} == {True}
                    token = self._new_token(
                        log.token,
                        since,
                        log.shape,
                        last or metadata,
                        has_labels=has_labels,
                        has_holdings=has_holdings,
                    )
                    findings.tokens.append(token)
                    # An item may have no owner in its first block: another one tells.
                    is_told = metadata.owned_beside is not None or metadata.has_amount
                    is_told |= log.token in self._state.unreadable  # which is read again
                    is_open = (is_unread or not is_told) and log.shape in events.OF_A_WORD
                    if is_open and token.type == "BEP20" and not token.decimals:
                        self._reject(log.token, "type", number, findings)
                    if last is not None:
                        findings.ends.append(self._end_life(log.token, number, number + 1, last))
                        ended.add(log.token)
        return ended

    def _is_doubtful(self, address: bytes, shape: events.TransferShape) -> bool:
        contract = self._contracts[address]
        type_ = contract.token_type
        return type_ is not None and (
            "type" in contract.rejected
            or not contract.has_holdings
            or events.may_be_of_another_type(shape, type_, contract.item_type)
        )

    def _may_be_retyped(self, log: TransferLog, number: int) -> bool:
        """Return whether a log makes the type doubtful of a token that is older than its block."""
        return (
            log.shape not in events.CLAIMS
            and number > self._contracts[log.token].token_since[0]
            and self._is_doubtful(log.token, log.shape)
        )

    def _is_of_another_type(self, address: bytes, metadata: token_metadata.TokenMetadata) -> bool:
        """Return whether a token answers as one of another type, or has come to have functions, or
        items."""
        contract = self._contracts[address]
        type_ = contract.token_type or ""
        shape = events.SHAPES[type_]
        return address not in self._state.unreadable and bool(
            events.token_type(shape, metadata) != type_
            or (metadata.has_functions and not contract.has_holdings)
            or (contract.item_type is None and events.items_beside(type_, shape, metadata))
        )

    def _change_types(self, batch: Batch, findings: state.ContractFindings) -> bool:
        """Read tokens again at events that are not of their standard, and those of which nothing
        told their type at first; return whether some are left or of another type since."""
        tried: _Tried = {}
        logs = []
        for block in batch:
            claims: dict[bytes, Claim] = {}
            is_doubtful = any(self._may_be_retyped(log, block.number) for log in _first_logs(block))
            for log in block.transfer_logs if is_doubtful else ():
                if isinstance(log.claim, token_metadata.ItemClaim):
                    claims[log.token] = log.claim
                if self._may_be_retyped(log, block.number) and self._begin_try(
                    "type", tried, log.token, block.number
                ):
                    logs.append((block, log.token, claims.get(log.token)))
        calls = [state.TOKEN_CALLS + state.CLAIM_CALLS * bool(claim) for *_, claim in logs]
        gas, count, is_whole = state.MOST_CALL_GAS, TOKENS_AT_ONCE, len(logs) <= TOKENS_AT_ONCE
        if len(batch) == 1:  # others are not read at this block
            gas, count = state.shared_gas(calls)
            is_whole = True
            for block, address, _ in logs[count:]:
                self._reject(address, "type", block.number, findings)
        logs = logs[:count]
        queries = [
            state.token_queries(token, state.block_id(block), gas)
            + state.claim_queries(block, token, claim, gas)
            for block, token, claim in logs
        ]
        results = self._state.read(chain.from_iterable(queries))
        changed: dict[bytes, tuple[BlockContracts, token_metadata.TokenMetadata]] = {}
        for (block, address, claim), of_log in zip(logs, queries, strict=True):
            if address in changed:
                continue
            self._reject(address, "type", block.number, findings)
            answers = [results[query] for query in of_log]
            metadata = _metadata(claim, answers)
            is_unread = state.is_unread(answers[: state.TOKEN_CALLS], gas)
            if not is_unread and self._is_of_another_type(address, metadata):
                changed[address] = block, metadata
        before = {a: state.BlockId(b.number - 1, b.parent_hash) for a, (b, _) in changed.items()}
        lasts = self._metadata_at(before, gas)
        for address, (block, metadata) in changed.items():
            shape = events.SHAPES[self._contracts[address].token_type or ""]
            last = lasts.get(address, state.UNREAD)
            findings.ends.append(self._end_life(address, block.number, block.number, last))
            of_token = (block.number, 0), shape, metadata
            findings.tokens.append(self._new_token(address, *of_token, has_labels=True))
        return bool(changed) or not is_whole

    def _metadata_before_end(
        self,
        logs: Iterable[tuple[BlockContracts, TransferLog]],
        results: Mapping[state.StateQuery, bytes | None],
        gas: int,
    ) -> tuple[dict[bytes, token_metadata.TokenMetadata], set[bytes]]:
        """Return what the tokens of Transfers answered before these blocks, of those whose code is
        gone after them, and those whose code is there and answers nothing; where that state is
        pruned, none is taken for either."""
        blocks = {
            state.StateQuery(log.token, None, at, is_of_block_only=True): block
            for block, log in logs
            if log.shape not in events.CLAIMS
            and not any(
                map(results.get, state.token_queries(log.token, at := state.block_id(block), gas))
            )
        }
        codes = self._state.read(blocks)
        gone = {query.address: block for query, block in blocks.items() if codes[query] == b""}
        before = {a: state.BlockId(b.number - 1, b.parent_hash) for a, b in gone.items()}
        bare = {query.address for query in blocks if codes[query]} - self._state.unreadable
        return self._metadata_at(before, gas), bare

    def _begin_try(self, claim: str, tried: _Tried, address: bytes, number: int) -> bool:
        """Note in `tried` that a contract is tried in a block as what it claims to be, all but the
        first time on the condition that it was refused before; return False if it is not due."""
        before = self._contracts[address].rejected.get(claim, (number, number - 1))
        first, last = tried.get(address, (before[0], before[1]))
        if not state.is_reading_due(number, first, last):
            return False
        tried[address] = first, number
        return True

    def _reject(
        self, address: bytes, claim: str, number: int, findings: state.ContractFindings
    ) -> None:
        tries = self._contracts[address].rejected.get(claim, state.Tries(number, number, 0))
        if tries.times and tries.last == number:
            return  # a late token that begins to wrap is rejected in two ways, and has one row
        self._contracts[address].rejected[claim] = state.Tries(tries.first, number, tries.times + 1)
        findings.rejections.append(state.RejectedEmitter(address, claim, number))

    def _is_open(self, log: TransferLog) -> bool:
        """Return whether it is unknown if a log is of a token, or of a wrapper."""
        contract = self._contracts[log.token]
        may_wrap = log.shape in events.WRAPPING and contract.token_type == "BEP20"
        return (contract.wraps_since if may_wrap else contract.token_type) is None

    def _deciding_logs(self, batch: Batch) -> list[tuple[BlockContracts, TransferLog]]:
        """Return the first Transfer of each contract that is not known as a token, and the claims
        by which those that may be tokens or wrappers are to be read, in the chain's order."""
        firsts: dict[bytes, tuple[BlockContracts, TransferLog]] = {}
        claims = []
        tried: _Tried = {}
        for block in batch:
            for log in _first_logs(block):
                contract = self._contracts[log.token]
                if not self._is_open(log) or block.number < (contract.may_begin_at or 0):
                    continue
                if log.shape not in events.CLAIMS:
                    firsts.setdefault(log.token, (block, log))
                elif self._begin_try("token", tried, log.token, block.number):
                    claims.append((block, log))
        logs = [*firsts.values(), *claims]
        return sorted(logs, key=lambda first: (first[0].number, first[1].log_index))

    # Pools

    def _find_pools(self, batch: Batch, findings: state.ContractFindings) -> None:
        """Find the pools of managers (v4), which are no contracts, by events, and others by what
        contracts that swap answer; those that answer like none are rejected."""
        for block in batch:
            for event in block.pool_events:
                dex = self._factories.get(event.manager) or f"v4-{to_hex(event.manager)}"
                tokens = event.token0, event.token1
                if self._contracts[event.pool].pool is None:
                    self._add_pool(state.NewPool(event.pool, block.number, dex, *tokens), findings)
        tried: _Tried = {}
        swaps = [
            (swap.pool, state.block_id(block), swap.family)
            for block in batch
            for swap, _ in block.swap_logs
            if self._contracts[swap.pool].pool is None
            and swap.family != "v4"
            and self._begin_try("pool", tried, swap.pool, block.number)
        ]
        swaps.sort(key=lambda swap: self._tried(swap[0], "pool"))
        gas, count = _gas(batch, [state.POOL_CALLS] * len(swaps))
        queries = [
            [
                state.StateQuery(pool, data, at, gas=gas)
                for data in token_metadata.pool_calls(family)
            ]
            for pool, at, family in swaps[:count]
        ]
        results = self._state.read(chain.from_iterable(queries))
        queries += [[]] * (len(swaps) - count)
        claims: dict[bytes, tuple[state.NewPool, str, state.StateQuery]] = {}
        for (address, at, family), of_pool in zip(swaps, queries, strict=True):
            if address in claims:
                continue
            *addresses, variant = map(results.get, of_pool) if of_pool else (None,) * 4
            token0, token1, factory = map(token_metadata.address, addresses)
            if token0 is None or token1 is None:
                self._reject(address, "pool", at.number, findings)
                continue
            factory = factory or events.ZERO_ADDRESS
            dex = self._factories.get(factory) or f"{family}-{to_hex(factory)}"
            number = token_metadata.word(variant) or 0  # its fee, or whether it is stable
            call = token_metadata.get_pool(family, token0, token1, number)
            pool = state.NewPool(address, at.number, dex, token0, token1)
            claims[address] = pool, family, state.StateQuery(factory, call, at, gas=gas)
        confirmed = self._state.read(confirmation for *_, confirmation in claims.values())
        for pool, family, confirmation in claims.values():
            # Any contract can claim any factory, so the factory is asked for its pool.
            if token_metadata.address(confirmed[confirmation]) != pool.address:
                pool = pool._replace(dex=f"{family}-unconfirmed")
            self._add_pool(pool, findings)

    def _add_pool(self, pool: state.NewPool, findings: state.ContractFindings) -> None:
        self._contracts[pool.address].pool = pool
        findings.pools.append(pool)


def _first_logs(block: BlockContracts) -> Iterable[TransferLog]:
    """Return the first log of each form of each contract in a block: what a contract is asked, and
    when, does not depend on the others. Less than a third of logs are."""
    firsts: dict[tuple[bytes, events.TransferShape], TransferLog] = {}
    for log in block.transfer_logs:
        firsts.setdefault((log.token, log.shape), log)
    return firsts.values()


def _gas(batch: Batch, calls: Sequence[int]) -> tuple[int, int]:
    """Return what shared_gas() does of a crowded block, which is a batch of its own; of others,
    each contract has the most gas."""
    return state.shared_gas(calls) if len(batch) == 1 else (state.MOST_CALL_GAS, len(calls))


def _metadata(claim: Claim | None, results: Sequence[bytes | None]) -> token_metadata.TokenMetadata:
    """Return what a token answers, given the results of TOKEN_CALLS and of its claim's queries."""
    of_item = claim if isinstance(claim, token_metadata.ItemClaim) else None
    of_claim = () if of_item is None else (of_item, results[state.TOKEN_CALLS :])
    return token_metadata.decode_token_metadata(results[: state.TOKEN_CALLS], *of_claim)
