"""Contracts whose functions ask an authority who may call, and some that only look like them."""

OZ = "@openzeppelin/contracts"


def managed_by(package: str) -> str:
    return f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {{AccessManaged}} from "{package}/access/manager/AccessManaged.sol";
import {{AccessManager}} from "{package}/access/manager/AccessManager.sol";
contract Manager is AccessManager {{ constructor(address admin) AccessManager(admin) {{}} }}
contract Managed is AccessManaged {{
    uint256 public value;
    constructor(address manager) AccessManaged(manager) {{}}
    function set(uint256 to) external restricted {{ value = to; }}
    function other() external restricted {{ value = 1; }}
    function open() external {{ value = 1; }}
    fallback() external restricted {{ value = 3; }}
}}
"""


LIAR = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Liar {
    function canCall(address, address, bytes4) external pure returns (bool, uint32) {
        return (true, 0);
    }
    function getTargetFunctionRole(address, bytes4) external pure returns (uint64) { return 7; }
    function isTargetClosed(address) external pure returns (bool) { return true; }
}
contract Babbler {
    fallback() external { assembly { mstore(0, not(0)) return(0, calldatasize()) } }
}
"""

# What contracts make of AccessManaged, so that anybody may call f(), which is `restricted`.
LOOK_ALIKES = {
    "NoCheck": "function _checkCanCall(address, bytes calldata) internal override {}",
    "OwnAnswer": """function _checkCanCall(address who, bytes calldata data) internal override {
        (bool ok, uint32 delay) =
            Own.canCallWithDelay(authority(), who, address(this), bytes4(data[0:4]));
        if (!ok) { if (delay > 0) { value = 2; } else { revert(); } } }""",
    "FromCaller": """function authority() public view override returns (address) {
        return msg.sender.code.length > 0 ? super.authority() : address(yes); }""",
    "Inverted": """function _checkCanCall(address who, bytes calldata data) internal override {
        (bool ok, uint32 delay) = AuthorityUtils.canCallWithDelay(
            authority(), who, address(this), bytes4(data[0:4]));
        if (!ok) { if (delay == 0) { value = 2; } else { revert(); } } }""",
    "Returning": """function _checkCanCall(address who, bytes calldata data) internal override {
        if (data.length > 3) return;
        super._checkCanCall(who, data); }""",
    "ElseOpen": """function _checkCanCall(address who, bytes calldata data) internal override {
        (bool ok, uint32 delay) = AuthorityUtils.canCallWithDelay(
            authority(), who, address(this), bytes4(data[0:4]));
        if (!ok) { if (delay > 0) { value = 2; } else { if (value > 9) revert(); } } }""",
    "AnotherSender": """function _msgSender() internal view override returns (address) {
        return admin; }""",
    "ChosenInCall": """function _checkCanCall(address who, bytes calldata data) internal override {
        _setAuthority(address(yes)); super._checkCanCall(who, data); }""",
    "GrantedInCall": """function _checkCanCall(address who, bytes calldata data) internal override {
        later.grant(); super._checkCanCall(who, data); }""",
    "Ended": """function _checkCanCall(address who, bytes calldata data) internal override {
        value = 2; assembly { stop() } super._checkCanCall(who, data); }""",
    "Changed": """function _checkCanCall(address who, bytes calldata data) internal override {
        (bool ok, uint32 delay) = AuthorityUtils.canCallWithDelay(
            authority(), who, address(this), bytes4(data[0:4]));
        ok = delay == 0; if (!ok) revert(); }""",
    "ChangedAnswer": """function _checkCanCall(address who, bytes calldata data) internal override {
        (bool ok,) = AuthorityUtils.canCallWithDelay(
            authority(), who, address(this), bytes4(data[0:4]));
        assembly { ok := 1 } if (!ok) revert(); }""",
}


def look_alike(name: str) -> str:
    return f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {{AccessManaged}} from "{OZ}/access/manager/AccessManaged.sol";
import {{AuthorityUtils}} from "{OZ}/access/manager/AuthorityUtils.sol";
contract Later {{
    bool granted; address immutable admin = msg.sender;
    function grant() external {{ granted = true; }}
    function canCall(address who, address, bytes4) external view returns (bool) {{
        return granted || who == admin;
    }}
}}
library Own {{
    function canCallWithDelay(address, address, address, bytes4)
        internal pure returns (bool immediate, uint32 delay) {{
        assembly {{ immediate := 1 delay := 0 }}
    }}
}}
contract {name} is AccessManaged {{
    uint256 public value;
    address immutable admin = msg.sender;
    Later immutable yes = new Later();
    Later immutable later;
    constructor(Later later_) AccessManaged(address(later_)) {{ later = later_; yes.grant(); }}
    {LOOK_ALIKES[name]}
    function f() external restricted {{ value = 1; }}
}}
"""


# The letters of functions are those of CHECKS; a stranger may call those that begin with u or n.
DIRECT = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
interface IAuthority {
    function canCall(address who, address where, bytes4 what) external view returns (bool);
    function isAdmin(address who) external view returns (bool);
    function isAdminOf(uint256 what, address who) external view returns (bool);
    function levelOf(address who) external view returns (uint256);
}
contract Authority is IAuthority {
    address public owner = msg.sender;
    function canCall(address who, address, bytes4 what) external view returns (bool) {
        return who == owner && what != 0;
    }
    function isAdmin(address who) public view returns (bool) { return who == owner; }
    function isAdminOf(uint256, address who) external view returns (bool) { return isAdmin(who); }
    function levelOf(address who) external view returns (uint256) { return isAdmin(who) ? 9 : 0; }
}
contract Everybody is IAuthority {
    function canCall(address, address, bytes4) external pure returns (bool) { return true; }
    function isAdmin(address) external pure returns (bool) { return true; }
    function isAdminOf(uint256, address) external pure returns (bool) { return true; }
    function levelOf(address) external pure returns (uint256) { return 9; }
}
contract Direct {
    IAuthority public authority;
    IAuthority internal other;
    IAuthority internal immutable everybody = new Everybody();
    mapping(uint256 => IAuthority) internal authorities;
    address public owner = msg.sender;
    uint256 public value;
    constructor(IAuthority authority_) { authority = authorities[1] = other = authority_; }

    function isAuthorized(address who, bytes4 what) internal view returns (bool) {
        IAuthority asked = authority;
        return (address(asked) != address(0) && asked.canCall(who, address(this), what))
            || who == owner;
    }
    modifier requiresAuth { require(isAuthorized(msg.sender, msg.sig)); _; }
    function isAdmin(address) external pure returns (bool) { return true; }

    function mCanCall() external {
        require(authority.canCall(msg.sender, address(this), msg.sig));
        value = 1;
    }
    function mConstant() external {
        require(authority.canCall(msg.sender, address(this), bytes4(0x12345678)));
        value = 1;
    }
    function mModifier() external requiresAuth { value = 1; }
    function mRevert() external { if (!other.isAdmin(msg.sender)) revert(); value = 1; }
    function mTrue() external { require(true == authority.isAdmin(msg.sender)); value = 1; }
    function mLocal() external { bool ok = authority.isAdmin(msg.sender); require(ok); value = 1; }
    function mOf() external { require(authority.isAdminOf(5, msg.sender)); value = 1; }
    function mEntry() external { require(authorities[1].isAdmin(msg.sender)); value = 1; }
    function mEither() external {
        require(msg.sender == owner || authority.isAdmin(msg.sender));
        value = 1;
    }
    function rBoth() external requiresAuth { require(msg.sender == owner); value = 1; }

    function uNegated() external { require(!authority.isAdmin(msg.sender)); value = 1; }
    function uFalse() external { require(authority.isAdmin(msg.sender) == false); value = 1; }
    function uItself() external {
        require(IAuthority(address(this)).isAdmin(msg.sender));
        value = 1;
    }
    function uSet() external {
        authority = everybody;
        require(authority.isAdmin(msg.sender));
        value = 1;
    }
    function uEntrySet() external {
        authorities[1] = everybody;
        require(authorities[1].isAdmin(msg.sender));
        value = 1;
    }
    function uUnused() external { authority.isAdmin(msg.sender); value = 1; }
    function uOpen() external { require(authority.isAdmin(msg.sender) || value < 9); value = 1; }
    function uChanged() external {
        bool ok = authority.isAdmin(msg.sender);
        ok = true;
        require(ok);
        value = 1;
    }
    function uBranch() external { if (authority.isAdmin(msg.sender)) { value = 2; } value = 1; }
    function uTernary() external {
        require(value < 9 ? true : authority.isAdmin(msg.sender));
        value = 1;
    }
    function uLevel() external { require(authority.levelOf(msg.sender) >= 0); value = 1; }
    function uTried() external {
        try authority.isAdmin(msg.sender) returns (bool) {} catch {}
        value = 1;
    }
    function uLoop() external {
        for (uint256 i; i < value; i++) { require(authority.isAdmin(msg.sender)); }
        value = 1;
    }
    function nAnother() external { require(authority.isAdmin(owner)); value = 1; }
    function uGiven(IAuthority by) external { require(by.isAdmin(msg.sender)); value = 1; }
    function aAmong(uint256 what) external {
        require(authority.isAdminOf(what, msg.sender));
        value = 1;
    }
}
"""
