"""What other contracts answer of the caller: `authority.canCall(msg.sender, address(this),
msg.sig)` and the like, where the contract that is asked decides who may call.

An answer is a value that is not zero only if the contract that is asked says so.
"""

import re
from collections.abc import Sequence

from scan.ethereum.keccak import keccak256
from scan.verification.permissions.inline_assembly import without_comments
from scan.verification.permissions.references import ELSEWHERE
from scan.verification.permissions.syntax_tree import (
    FUNCTION,
    Budget,
    Node,
    SyntaxTree,
    descendants,
    is_view,
    parameter_types,
    parameters,
    type_of,
)
from scan.verification.permissions.value_kinds import (
    ANSWER,
    CALLER,
    ENTRY,
    SELECTOR,
    SELF,
    VARIABLE_VALUE,
    Value,
    mixed,
)

# Whether a caller may call a function, by its selector, of a contract (OpenZeppelin's IAuthority).
CAN_CALL = "canCall(address,address,bytes4)"
_CAN_CALL_TYPES = ("address", "address", "bytes4")
WITH_DELAY = "canCallWithDelay"
# OpenZeppelin's AuthorityUtils.canCallWithDelay() calls the authority by assembly, or by
# staticcall: the hashes of its tokens in 5.0 to 5.2, and since 5.3. Whatever has these tokens
# returns zeros, or what the authority answers.
_WITH_DELAY = {
    bytes.fromhex(digest)
    for digest in (
        "06eff665d2b1eab3bf339b2dd7a69b15a9c44b01aab39f755a6b3220652f422d",
        "d0a5a674c0bef87a95e5e7b9fb3a2ada8c634a79ea775f7de6d17848340ff095",
    )
}
_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\w+|[^\w\s]')


def of_call(declared: Node | None, target: Value, arguments: Sequence[Value]) -> Value | None:
    """Return the answer of a function of another contract that returns a bool; None where it may
    depend on more than the caller, or the contract is not known."""
    if declared is None or declared.get("nodeType") != FUNCTION or not is_view(declared):
        return None
    if [type_of(result) for result in parameters(declared, "returnParameters")] != ["bool"]:
        return None
    is_can_call = declared.get("name") == "canCall"
    return _answer(target, arguments, is_can_call and parameter_types(declared) == _CAN_CALL_TYPES)


def with_delay(
    called: Node, arguments: Sequence[Value], tree: SyntaxTree, budget: Budget
) -> Value | None:
    """Return the answer that AuthorityUtils.canCallWithDelay() passes on, as each of its results;
    None of another function."""
    if len(arguments) != 4:
        return None
    tokens = _TOKEN.findall(without_comments(tree.source(called, budget)))
    if keccak256(" ".join(tokens).encode()) not in _WITH_DELAY:
        return None
    for node in descendants(called.get("body"), budget):
        if node.get("name") == "abi" and not tree.is_builtin(node, "abi"):
            return None
        if node.get("memberName") == "canCall":
            declared = tree.declared(node) or {}
            is_function = declared.get("nodeType") == FUNCTION
            if not is_function or declared.get("name") != "canCall":
                return None
            if parameter_types(declared) != _CAN_CALL_TYPES:
                return None
    return _answer(arguments[0], arguments[1:], is_can_call=True)


def _answer(target: Value, arguments: Sequence[Value], is_can_call: bool) -> Value | None:
    callers = [argument for argument in arguments if argument.kind == CALLER]
    others = [argument for argument in arguments if argument.kind != CALLER]
    is_known = target.kind in (VARIABLE_VALUE, ENTRY) or target.reads or target.number is not None
    if not callers or not is_known or any(v.caller or v.arguments for v in (target, *others)):
        return None
    is_of_function = [a.kind for a in arguments] == [CALLER, SELF, SELECTOR]
    value = mixed([target, *arguments])
    return value._replace(
        kind=ANSWER,
        keys=(target,),
        question=CAN_CALL if is_can_call and is_of_function else None,
        variables=value.variables | {ELSEWHERE},
        forwarders=tuple(f for argument in arguments for f in argument.forwarders),
    )
