"""Contracts with trusted forwarders, which say for whom they call, and ways around them."""

OZ = "@openzeppelin/contracts"
_LAST = "address(bytes20(msg.data[msg.data.length - 20:]))"

FORWARDED = f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
import {{Ownable}} from "{OZ}/access/Ownable.sol";
import {{AccessControl}} from "{OZ}/access/AccessControl.sol";
import {{AccessManaged}} from "{OZ}/access/manager/AccessManaged.sol";
import {{AccessManager}} from "{OZ}/access/manager/AccessManager.sol";
import {{Context}} from "{OZ}/utils/Context.sol";
import {{ERC2771Context}} from "{OZ}/metatx/ERC2771Context.sol";
import {{ERC2771Forwarder}} from "{OZ}/metatx/ERC2771Forwarder.sol";

contract Forwarder is ERC2771Forwarder {{ constructor() ERC2771Forwarder("Forwarder") {{}} }}
contract Manager is AccessManager {{ constructor(address admin) AccessManager(admin) {{}} }}
contract Forwarded is ERC2771Context, Ownable, AccessControl, AccessManaged {{
    uint256 public value;
    address public last;
    constructor(address forwarder, address manager)
        ERC2771Context(forwarder) Ownable(msg.sender) AccessManaged(manager)
    {{ _grantRole(DEFAULT_ADMIN_ROLE, msg.sender); }}
    function rOwner() external onlyOwner {{ value = 1; }}
    function rRole() external onlyRole(DEFAULT_ADMIN_ROLE) {{ value = 1; }}
    function mManaged() external restricted {{ value = 1; }}
    function nOpen() external {{ last = _msgSender(); }}
    function nSomebody() external {{ require(_msgSender() != address(0)); value = 1; }}
    function aSame(address who) external {{ require(who == _msgSender()); value = 1; }}
    function uNobody() external {{
        if (_msgSender() == address(0)) {{ value = 2; }} else {{ value = 1; }}
    }}
    function _msgSender() internal view override(Context, ERC2771Context) returns (address) {{
        return ERC2771Context._msgSender();
    }}
    function _msgData() internal view override(Context, ERC2771Context) returns (bytes calldata) {{
        return ERC2771Context._msgData();
    }}
    function _contextSuffixLength() internal view override(Context, ERC2771Context)
        returns (uint256)
    {{ return ERC2771Context._contextSuffixLength(); }}
}}
"""

# How contracts name who calls, by the accounts that may call f(): the owner and forwarders.
SENDERS = {
    "assembly": """function sender() internal view returns (address who) {
        if (isTrusted(msg.sender)) {
            assembly { who := shr(96, calldataload(sub(calldatasize(), 20))) }
        } else { return msg.sender; } }""",
    "assigned": f"""function sender() internal view returns (address payable who) {{
        if (msg.data.length >= 24 && isTrusted(msg.sender)) {{ who = payable({_LAST}); }}
        else {{ who = payable(msg.sender); }}
        return who; }}""",
    "early return": f"""function sender() internal view returns (address) {{
        if (msg.sender != forwarder) {{ return msg.sender; }}
        return {_LAST}; }}""",
    "no else": f"""function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        return msg.sender; }}""",
    "conditional": f"""function sender() internal view returns (address) {{
        return forwarder == msg.sender ? {_LAST} : msg.sender; }}""",
    "conditional of others": f"""function sender() internal view returns (address) {{
        return !isTrusted(msg.sender) ? msg.sender : {_LAST}; }}""",
    "members": f"""function sender() internal view returns (address) {{
        if (isForwarder[msg.sender]) return {_LAST};
        return msg.sender; }}""",
    "two": f"""function sender() internal view returns (address) {{
        if (msg.sender == address(this) || isForwarder[msg.sender]) return {_LAST};
        return msg.sender; }}""",
    "through two": f"""function inner() internal view returns (address) {{
        if (isForwarder[msg.sender]) return {_LAST};
        return msg.sender; }}
        function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        return inner(); }}""",
}

# The same, but that anybody may call f() who appends the owner to the calldata.
AROUND = {
    "everybody": f"""function sender() internal view returns (address) {{
        if (msg.data.length >= 24) return {_LAST};
        return msg.sender; }}""",
    "or long": f"""function sender() internal view returns (address) {{
        if (isTrusted(msg.sender) || msg.data.length > 20) return {_LAST};
        return msg.sender; }}""",
    "of whom it names": f"""function sender() internal view returns (address) {{
        if (isOwner({_LAST})) return {_LAST};
        return msg.sender; }}""",
    "negated": f"""function sender() internal view returns (address) {{
        if (!isTrusted(msg.sender)) return {_LAST};
        return msg.sender; }}""",
    "falls through": f"""function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) {{}}
        return {_LAST}; }}""",
    "owner otherwise": f"""function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        return owner; }}""",
    "changed after": f"""function sender() internal view returns (address who) {{
        if (isTrusted(msg.sender)) {{ who = {_LAST}; }} else {{ who = msg.sender; }}
        who = {_LAST}; }}""",
    "changed in assembly": f"""function sender() internal view returns (address who) {{
        if (isTrusted(msg.sender)) {{ who = {_LAST}; }} else {{ who = msg.sender; }}
        assembly {{ who := shr(96, calldataload(sub(calldatasize(), 20))) }} }}""",
    "changed before": f"""function sender() internal view returns (address) {{
        address who = msg.sender;
        if (isTrusted(msg.sender)) {{}} else {{ who = {_LAST}; return who; }}
        return msg.sender; }}""",
    "modified": f"""modifier chosen() {{ assembly {{
            mstore(0, shr(96, calldataload(sub(calldatasize(), 20)))) return(0, 32) }} _; }}
        function sender() internal chosen returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        return msg.sender; }}""",
    "trusts everybody": f"""function isTrusted(address) internal pure override returns (bool) {{
        return true; }}
        function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        return msg.sender; }}""",
    "trusts in the call": f"""function sender() internal returns (address) {{
        forwarder = msg.sender;
        if (isTrusted(msg.sender)) return {_LAST};
        return msg.sender; }}""",
    "trusts the last": f"""modifier trusting() {{ isForwarder[msg.sender] = true; _; }}
        function sender() internal view returns (address) {{
        if (isForwarder[msg.sender]) return {_LAST};
        return msg.sender; }}
        function f() external override trusting {{ require(owner == sender()); value = 1; }}""",
    "in an inner branch": f"""function sender() internal view returns (address) {{
        if (isTrusted(msg.sender)) return {_LAST};
        else {{ if (msg.data.length < 24) return msg.sender; return {_LAST}; }} }}""",
}


def with_sender(text: str) -> str:
    return f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
abstract contract Base {{
    address public owner = msg.sender;
    address public forwarder;
    mapping(address => bool) public isForwarder;
    uint256 public value;
    constructor(address forwarder_) {{ forwarder = forwarder_; isForwarder[forwarder_] = true; }}
    function isTrusted(address who) internal virtual view returns (bool) {{
        return who == forwarder;
    }}
    function isOwner(address who) internal view returns (bool) {{ return who == owner; }}
    function f() external virtual;
}}
contract Own is Base {{
    constructor(address forwarder_) Base(forwarder_) {{}}
    {text}
    {"" if "function f()" in text else "function f() external override { check(); value = 1; }"}
    function check() internal {{ require(sender() == owner); }}
}}
"""
