"""Errors of eth_call in the words of nodes and providers: which of them are the contract's."""

import pytest

from scan.ethereum.node_errors import AnswerTooLarge, RpcError, kind_of
from tests.support.node_failures import FAILURES


# What nodes answer where a contract fails a call, by their sources and their issues.
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, "execution reverted"),  # Geth, Erigon, Reth
        (3, "execution reverted: header not found"),  # the contract's words
        # Geth's form, of old nodes and forks of it.
        (-32000, "execution reverted: request timed out"),
        (-32000, "gas required exceeds allowance (3000000)"),
        (-32000, "invalid opcode: INVALID"),
        (-32000, "invalid jump destination"),
        (-32000, "stack limit reached 1024 (1023)"),
        (-32000, "write protection"),
        (-32000, "return data out of bounds"),
        (-32000, "gas uint64 overflow"),
        (-32000, "insufficient balance for transfer"),
        (-32000, "err: intrinsic gas too low: have 20000, want 21000 (supplied gas 20000)"),
        (-32000, "insufficient gas for floor data gas cost: have 30000, want 61960"),
        (-32015, "VM execution error."),  # Nethermind until 1.3, OpenEthereum
        (-32000, "gas limit below intrinsic gas"),
        (-32003, "Precompile ecMul failed with error: invalid point"),
        (
            -32000,
            "Transaction processing could not be completed due to an exception"
            " (invalid opcode: 0xaa)",
        ),
        (-32003, "Intrinsic gas exceeds gas limit"),
        (-32004, "Upfront cost exceeds account balance"),
        (-32003, "out of gas: gas exhausted during memory expansion: 1000000"),  # Reth
        (-32003, "call gas cost (21000) exceeds the gas limit (20000)"),
        (-32003, "gas floor (61960) exceeds the gas limit (30000)"),
        (-32603, "EVM error InvalidFEOpcode"),  # Anvil
        (-32000, "intrinsic gas too high -- CallGasCostMoreThanGasLimit"),
        (-32603, "Error: Transaction reverted without a reason string"),  # Hardhat
        (
            -32603,
            "Error: VM Exception while processing transaction:"
            " reverted with reason string 'timeout'",
        ),
        (-32603, "Transaction ran out of gas"),
        (-32000, "Transaction requires at least 21000 gas but got 20000"),
        (-32000, "rpc error: code = Internal desc = execution reverted"),  # nodes of Cosmos
    ],
)
def test_a_contracts_refusal_is_recognised_by_every_clients_words(code, message):
    error = RpcError(code, message)
    assert error.is_refusal
    assert not (error.is_missing_block or error.is_missing_state or error.is_transient)


@pytest.mark.parametrize(("code", "message"), FAILURES)
def test_everything_else_is_a_failure_of_the_node(code, message):
    assert not RpcError(code, message).is_refusal


def test_an_answer_that_a_contract_makes_too_large_is_its_refusal():
    assert AnswerTooLarge(0, "the node's response is larger than 2 MiB").is_refusal


# In traces: of Geth, revm (Reth, Anvil), OpenEthereum and Nethermind, by their sources.
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("revert", "execution reverted"),
        ("revert", "Reverted"),
        ("revert", "Revert"),
        ("out_of_gas", "out of gas"),
        ("out_of_gas", "OutOfGas"),
        ("out_of_gas", "MemoryOOG"),
        ("out_of_gas", "contract creation code storage out of gas"),
        ("invalid_opcode", "invalid opcode: INVALID"),
        ("invalid_opcode", "OpcodeNotFound"),
        ("invalid_opcode", "Bad instruction"),
        ("invalid_opcode", "InvalidFEOpcode"),
        ("invalid_jump", "invalid jump destination"),
        ("invalid_jump", "InvalidJump"),
        ("invalid_jump", "Bad jump destination"),
        ("stack_limit", "stack underflow (0 <=> 1)"),
        ("stack_limit", "StackOverflow"),
        ("stack_limit", "stack limit reached 1024 (1023)"),
        ("stack_limit", "Out of stack"),
        ("static_call", "write protection"),
        ("static_call", "StateChangeDuringStaticCall"),
        ("static_call", "CallNotAllowedInsideStatic"),
        ("static_call", "Mutable Call In Static Context"),
        ("insufficient_balance", "insufficient balance for transfer"),
        ("insufficient_balance", "OutOfFunds"),
        ("call_depth", "max call depth exceeded"),
        ("call_depth", "CallTooDeep"),
        ("invalid_code", "max code size exceeded"),
        ("invalid_code", "CreateContractSizeLimit"),
        ("invalid_code", "CreateInitCodeSizeLimit"),
        ("invalid_code", "CreateContractStartingWithEF"),
        ("address_collision", "contract address collision"),
        ("address_collision", "CreateCollision"),
        ("other", "PrecompileError"),
        ("other", ""),
    ],
)
def test_a_failed_call_has_a_kind_by_every_clients_words(kind, words):
    assert kind_of(words) == kind
