"""What calls and messages are for, by the operator's descriptors: calls of transactions, those that
are to be sent, and those inside of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from scan.contracts import abi, abi_decoding
from scan.ethereum.served_chain import BlockId
from scan.extensions.clear_signing import (
    call_description,
    descriptor_formats,
    value_formats,
    value_paths,
)
from scan.extensions.clear_signing.contract_bindings import TIMEOUT_S, Called, ContractBindings
from scan.extensions.clear_signing.descriptors import Descriptor, Descriptors, StillReading, keys_of
from scan.extensions.contract_details.decoder import nested_calls
from scan.extensions.transaction_details import contract_abis, decoding
from scan.extensions.transaction_details import details as transaction_details
from scan.extensions.transaction_details.explanations.summary_parts import Names
from scan.hex import data, to_hex
from scan.queries import addresses, blocks, network
from scan.queries.reader import Reader

MAX_CALLS = 50  # of a request, with those inside
MAX_DEPTH = 4  # of calls inside of calls
MAX_SHOWN = 1_000  # values of all calls of a request
TEMPLATE = "clear_signing.html"
LARGE_BYTES = 16 * 1024  # of calldata; what is larger is described two at a time


class InnerDescription(NamedTuple):
    """What a call inside is for; `path` has its position in each call around it."""

    path: tuple[int, ...]
    to_address: str
    description: call_description.Description

    def record(self) -> dict[str, Any]:
        described = self.description.record()
        return {"path": [*self.path], "toAddress": self.to_address, "clearSigning": described}


class Described(NamedTuple):
    """What a call is for, if a descriptor fits it, and what the calls inside are for."""

    description: call_description.Description | None = None
    inside: Sequence[InnerDescription] = ()
    subject: str = "call"

    @property
    def template(self) -> str:
        return TEMPLATE

    def record(self) -> dict[str, Any]:
        description = self.description
        return {
            "clearSigning": None if description is None else description.record(),
            "clearSignedCalls": [inner.record() for inner in self.inside],
        }


NOTHING = Described()


class Erc7730(decoding.ClearSigning):
    """Says what calls and messages are for, by the operator's descriptors."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors

    def may_describe(self, reader: Reader) -> bool:
        return self._has_descriptors(reader) is not False

    def of_transaction(self, reader: Reader, record: Mapping[str, Any]) -> Described:
        """Return what a transaction's call is for; nothing where no descriptor fits it, and where
        the node does not have its calldata."""
        if not (record["toAddress"] and record["methodId"] and self._has_descriptors(reader)):
            return NOTHING
        details = transaction_details.details(reader, record, transaction_details.NO_LOGS)
        if details.input is None or not details.is_call:
            return NOTHING
        to_address, from_address = (data(record[name], 20) for name in ("toAddress", "fromAddress"))
        call = decoding.CallToSign(to_address, details.input, from_address, int(record["value"]))
        block = BlockId(record["blockNumber"], data(record["blockHash"], 32))
        return self.of_calls(reader, [call], block)[0]

    def of_calls(
        self, reader: Reader, calls: Sequence[decoding.CallToSign], block: BlockId | None = None
    ) -> list[Described]:
        chain_id = reader.sources.chain_id.read()
        if chain_id is None or not self._has_descriptors(reader):
            return [NOTHING] * len(calls)
        if sum(len(call.input) for call in calls) > LARGE_BYTES:
            reader.hold_processor()
        if block is None:
            reader.do_not_cache()
            if (block := blocks.newest(reader)) is None:
                return [NOTHING] * len(calls)
        trees = {
            position: _Tree(
                call_description.Call(
                    chain_id,
                    None if call.sender is None else to_hex(call.sender),
                    to_hex(call.to),
                    call.value,
                    call.input,
                    None,
                )
            )
            for position, call in enumerate(calls)
            if call.to is not None and len(call.input) >= call_description.SELECTOR_BYTES
        }
        describer = _Describer(reader, self._descriptors, chain_id, block)
        try:
            describer.select([*trees.values()])
        except StillReading:
            reader.do_not_cache()
            return [NOTHING] * len(calls)
        described = dict(zip(trees, describer.described([*trees.values()]), strict=True))
        return [described.get(position, NOTHING) for position in range(len(calls))]

    def of_message(self, reader: Reader, message: decoding.MessageToSign) -> Described:
        """Return what a message is for: one whose domain has a contract of this chain that verifies
        it, without which the ERC has wallets reject the descriptor."""
        if not self._has_descriptors(reader):
            return NOTHING
        chain_id, newest = reader.sources.chain_id.read(), blocks.newest(reader)
        verifying = value_formats.address_of(message.domain.get("verifyingContract"))
        is_of_chain = str(value_formats.number_of(message.domain.get("chainId"))) == chain_id
        if chain_id is None or newest is None or verifying is None or not is_of_chain:
            return NOTHING
        sender = None if message.sender is None else to_hex(message.sender)
        tree = _Tree(call_description.Call(chain_id, sender, verifying, 0, b"", None))
        describer = _Describer(reader, self._descriptors, chain_id, newest)
        try:
            describer.select_message(tree, message)
        except StillReading:
            return NOTHING
        [described] = describer.described([tree])
        return described._replace(subject="message")

    def _has_descriptors(self, reader: Reader) -> bool | None:
        """Return whether there are descriptors of the chain; None while they are being read."""
        chain_id = reader.sources.chain_id.read()
        try:
            return bool(chain_id) and self._descriptors.has_any(chain_id or "")
        except StillReading:
            reader.do_not_cache()
            return None


@dataclass
class _Tree:
    """A call with the calls inside. `of_values` are those that its values are, by their position;
    `nested` those that the decoder unfolds, unless its descriptor shows calls itself."""

    call: call_description.Call
    path: tuple[int, ...] = ()
    is_code_of_sender: bool = False  # a DELEGATECALL: what the contract does, it does as the sender
    is_value: bool = False
    descriptor: Descriptor | None = None
    format: descriptor_formats.Format | None = None
    selected: Sequence[call_description.SelectedValue] = ()
    of_values: dict[int, "_Tree"] = field(default_factory=dict)
    nested: list["_Tree"] = field(default_factory=list)

    @property
    def called(self) -> Called:
        selector = self.call.calldata[: call_description.SELECTOR_BYTES]
        return Called(data(self.call.to_address, 20), selector)

    def all(self) -> Iterator["_Tree"]:
        yield self
        for inner in (*self.of_values.values(), *self.nested):
            yield from inner.all()


class _Describer:
    """The descriptions of one request, within its bounds."""

    def __init__(
        self, reader: Reader, descriptors: Descriptors, chain_id: str, block: BlockId
    ) -> None:
        self._reader = reader
        self._descriptors = descriptors
        self._block = contract_abis.Block(block.number, to_hex(block.hash))
        self._bindings = ContractBindings(reader, descriptors, chain_id, block)
        self._budget = abi_decoding.DecodingBudget()
        self._calls_left = MAX_CALLS
        self._values_left = MAX_SHOWN

    def select(self, trees: Sequence[_Tree]) -> None:
        """Add descriptors, values and calls inside, level by level. Raises StillReading."""
        level = [*trees]
        for _ in range(MAX_DEPTH + 1):
            level = level[: self._calls_left]
            if not level:
                return
            self._calls_left -= len(level)
            self._decode(level)
            self._select(level)
            level = [inner for tree in level for inner in self._add_inside(tree)]

    def select_message(self, tree: _Tree, message: decoding.MessageToSign) -> None:
        """Add to the tree the descriptor that fits a message, and the calls that are values of it.
        Raises StillReading."""
        chain_id = tree.call.chain_id
        verifying = self._bindings.with_implementations(data(tree.call.to_address, 20))
        for descriptor in self._descriptors.of_messages(chain_id, keys_of(message, verifying)):
            format_ = descriptor.messages.format_of(message) if descriptor.messages else None
            if format_ is None:
                continue
            typed = value_paths.TypedValue(message.type, list(message.values))
            try:
                tree.selected = call_description.select_in(format_, typed, tree.call, self._budget)
            except (value_paths.DoesNotFit, abi.AbiError):
                continue
            tree.descriptor, tree.format = descriptor, format_
            self._values_left -= len(tree.selected)
            self.select(self._add_inside(tree))
            return

    def described(self, trees: Sequence[_Tree]) -> list[Described]:
        """Return the descriptions, with the names of all addresses that they show."""
        fitting = [inner for tree in trees for inner in tree.all() if inner.format is not None]
        described_addresses = {
            address for tree in fitting for address in call_description.addresses_in(tree.selected)
        }
        parties = addresses.parties(
            self._reader, [data(address, 20) for address in described_addresses]
        )
        names = Names(parties, network.coin_symbol(self._reader)) if fitting else Names({}, "")
        descriptions = []
        for tree in trees:
            inside = [
                InnerDescription(inner.path, inner.call.to_address, description)
                for inner in _unfolded(tree)
                if (description := _description(inner, names)) is not None
            ]
            descriptions.append(Described(_description(tree, names), inside))
        return descriptions

    def _decode(self, level: Sequence[_Tree]) -> None:
        """Add to the calls the method by which the contract's ABI decodes them."""
        node = self._reader.node.within(TIMEOUT_S)
        abis = self._reader.sources.get(contract_abis.ContractAbis)
        called = {tree.called.address for tree in level}
        contracts = abis.find_at_or_now(called, self._block, node, self._budget)
        if self._reader.has_node_failed:
            self._reader.do_not_cache()
        for tree in level:
            contract = contracts.get(tree.called.address, contract_abis.NO_CONTRACT)
            method = decoding.decode_call(
                tree.call.calldata, contract.abis, contract.token_type, budget=self._budget
            )
            tree.call = tree.call._replace(method=method)

    def _select(self, level: Sequence[_Tree]) -> None:
        """Add to the calls the descriptors that fit, and the values that they show."""
        trees = [tree for tree in level if not tree.is_code_of_sender]
        bound = self._bindings.find({tree.called for tree in trees}) if trees else {}
        for tree in trees:
            if (descriptor := bound.get(tree.called)) is None:
                continue
            format_ = descriptor.formats[tree.called.selector]
            try:
                selected = call_description.select(format_, tree.call, self._budget)
            except (value_paths.DoesNotFit, abi.AbiError):
                continue
            self._values_left -= len(selected)
            if self._values_left >= 0:
                tree.descriptor, tree.format, tree.selected = descriptor, format_, selected

    def _add_inside(self, tree: _Tree) -> Sequence[_Tree]:
        for position, value in enumerate(tree.selected):
            try:
                call = call_description.call_in(value, tree.call.chain_id)
            except value_paths.DoesNotFit:
                continue
            if call is not None and len(call.calldata) >= call_description.SELECTOR_BYTES:
                tree.of_values[position] = _Tree(call, is_value=True)
        if not tree.of_values and not tree.is_value:
            tree.nested = [
                _inside(tree, position, call)
                for position, call in enumerate(self._unfold(tree))
                if len(call.input) >= call_description.SELECTOR_BYTES
            ]
        return [*tree.of_values.values(), *tree.nested]

    def _unfold(self, tree: _Tree) -> list[nested_calls.NestedCall]:
        calldata = tree.call.calldata
        method = tree.call.method or decoding.decode_call(
            calldata, [nested_calls.functions_with_calls()], budget=self._budget
        )
        if method is None or not self._budget.allows(len(calldata)):
            return []
        return nested_calls.calls_in(calldata, method.signature)


def _inside(tree: _Tree, position: int, nested: nested_calls.NestedCall) -> _Tree:
    """Return a call inside as a tree: one to the contract itself comes from the same sender with
    the same value; another one from the contract, or from its sender where that runs its code. Of a
    proposal it is not known who makes it."""
    outer = tree.call
    if nested.to is None:
        call = outer._replace(calldata=nested.input, method=None)
        return _Tree(call, (*tree.path, position), tree.is_code_of_sender)
    sender = outer.from_address if tree.is_code_of_sender else outer.to_address
    sender = None if nested.is_by_other else sender
    call = call_description.Call(
        outer.chain_id, sender, to_hex(nested.to), nested.value, nested.input, None
    )
    return _Tree(call, (*tree.path, position), nested.is_delegated)


def _unfolded(tree: _Tree) -> Iterator[_Tree]:
    for inner in tree.nested:
        yield inner
        yield from _unfolded(inner)


def _description(tree: _Tree, names: Names) -> call_description.Description | None:
    if tree.descriptor is None or tree.format is None:
        return None
    inner = {
        position: description
        for position, of_value in tree.of_values.items()
        if (description := _description(of_value, names)) is not None
    }
    return call_description.describe(tree.descriptor, tree.format, tree.selected, names, inner)
