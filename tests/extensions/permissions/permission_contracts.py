"""Contracts whose functions have conditions of all kinds on the caller.

The first letter of a function's name says who may call it: r restricted, m whom another contract
lets pass, u unrecognised, a by its arguments, n anybody.
"""

CHECKS = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

interface IAuthority {
    function canCall(address who, address where, bytes4 what) external view returns (bool);
}

contract Factory {
    address public owner = msg.sender;
    function canCall(address who, address, bytes4) external view returns (bool) {
        return who == owner;
    }
}

library Checks {
    error Refused(address who);
    function only(address expected, address who) internal pure {
        if (expected != who) revert Refused(who);
    }
    function isSame(address one, address other) internal pure returns (bool) {
        return one == other;
    }
}

abstract contract Base {
    using Checks for address;
    address public owner = msg.sender;
    modifier onlyOwner virtual { _; }
    function _authorize() internal virtual {}
    function rInherited() external { _authorize(); }
    function rInheritedModifier() external onlyOwner {}
    function rOverridden() external virtual {}
}

contract Conditions is Base {
    using Checks for address;
    struct Configuration { address admin; uint96 since; }
    struct Memory { bool isOwner; }
    address private keeper = msg.sender;
    address internal immutable maker = msg.sender;
    address public immutable builder = msg.sender;
    address constant BURNER = 0x000000000000000000000000000000000000dEaD;
    mapping(address => bool) public isOperator;
    mapping(address => uint256) public wards;
    mapping(address => uint256) public balances;
    mapping(uint256 => address) public holderOf;
    mapping(address => mapping(address => bool)) public approved;
    mapping(address => bool) public blacklisted;
    Factory public factory;
    Configuration internal configuration;
    bool public open = true;
    uint256 public fee;
    uint256 public value;
    uint256 public last;

    constructor(Factory factory_) {
        isOperator[msg.sender] = true;
        wards[msg.sender] = 1;
        factory = factory_;
        configuration.admin = msg.sender;
    }

    modifier onlyOwner override { require(msg.sender == owner, "not the owner"); _; }
    modifier afterwards { _; require(owner == msg.sender); }
    modifier silent { if (msg.sender == owner) { _; } }
    modifier withElse { if (msg.sender == owner) { _; } else { revert("no"); } }
    modifier only(address who) { who.only(msg.sender); _; }
    function sender() internal view returns (address) { return msg.sender; }
    function isOwner(address who) public view returns (bool) { return who == owner; }
    function check() internal view { if (!isOwner(sender())) { revert("no"); } }
    function _authorize() internal override onlyOwner {}
    function fill(Memory memory m) internal view { m.isOwner = msg.sender == owner; }

    function rModifier() external onlyOwner { value = 1; }
    function rAfterwards() external afterwards { value = 1; }
    function rElse() external withElse { value = 1; }
    function rCalled() external { check(); value = 1; }
    function rEither() external { require(msg.sender == owner || msg.sender == keeper); value = 1; }
    function rNeither() external {
        if (msg.sender != owner && msg.sender != keeper) revert("no");
        value = 1;
    }
    function rMember() external { require(isOperator[msg.sender], "no"); value = 1; }
    function rWard() external { require(wards[msg.sender] == 1, "no"); value = 1; }
    function rLibrary() external { Checks.only(keeper, msg.sender); value = 1; }
    function rLibraryModifier() external only(keeper) { value = 1; }
    function rLibraryValue() external { require(owner.isSame(sender())); value = 1; }
    function rImmutable() external {
        address who = msg.sender;
        if (who != maker) { revert Checks.Refused(who); }
        value = 1;
    }
    function rBuilder() external { require(builder == msg.sender); value = 1; }
    function rElsewhere() external { require(msg.sender == factory.owner()); value = 1; }
    function rTwo() external { require(value < 100 && msg.sender == owner); fee = 1; }
    function rConstant() external { require(msg.sender == BURNER); value = 1; }
    function rItself() external { require(msg.sender == address(this)); value = 1; }
    function rStructure() external { require(msg.sender == configuration.admin); value = 1; }
    function rNestedIf() external {
        if (msg.sender != owner) { if (!isOperator[msg.sender]) { revert("no"); } }
        value = 1;
    }
    function rElseIf() external {
        if (msg.sender == owner) { value = 2; }
        else if (isOperator[msg.sender]) { value = 3; }
        else { revert("no"); }
    }
    function rNamed() external { Checks.only({who: msg.sender, expected: owner}); value = 1; }
    function rBlacklist(address who) external onlyOwner { blacklisted[who] = true; }
    function rWithdraw(address payable to) external onlyOwner { to.transfer(0); }
    function rOverridden() external override onlyOwner {}

    function uSilent() external silent { value = 1; }
    function uOpen() external { require(msg.sender == owner || open); value = 1; }
    function mAuthority() external {
        require(factory.canCall(msg.sender, address(this), msg.sig));
        value = 1;
    }
    function uSometimes() external { if (open) { require(msg.sender == owner); } value = 1; }
    function uReturned() external { if (open) return; require(msg.sender == owner); value = 1; }
    function uNestedOpen() external {
        if (!open) { if (msg.sender != owner) revert("no"); }
        value = 1;
    }
    function uElseOpen() external {
        if (msg.sender == owner) { value = 2; } else if (open) { value = 3; } else { revert("no"); }
    }
    function uNestedTwice() external {
        if (msg.sender != owner) { if (!open) { if (!isOperator[msg.sender]) revert("no"); } }
        value = 1;
    }
    function uWritten() external { owner = msg.sender; require(msg.sender == owner); value = 1; }
    function uWrittenInside() external { nClaim(); require(msg.sender == owner); value = 1; }
    function uAssigned() external {
        address a = owner;
        a = msg.sender;
        require(msg.sender == a);
        value = 1;
    }
    function uAssembly() external {
        assembly { if iszero(eq(caller(), sload(0))) { revert(0, 0) } }
        value = 1;
    }
    function uStored() external { assembly { sstore(0, caller()) } require(msg.sender == owner); }
    function uBoolean() external { bool ok = msg.sender == owner; require(ok); value = 1; }
    function uLoop() external { for (uint256 i; i < 3; i++) { require(msg.sender == owner); } }
    function uTernary() external { uint256 x = msg.sender == owner ? 1 : 2; value = x; }
    function uBalance() external { require(balances[msg.sender] > 0); value = 1; }
    function uOrigin() external { require(tx.origin == msg.sender); value = 1; }
    function uTruncated() external {
        require(uint8(uint160(msg.sender)) == uint8(uint160(owner)));
        value = 1;
    }
    function uMemory() external { Memory memory m; fill(m); require(m.isOwner); value = 1; }
    function uCallback() external { IAuthority(address(factory)).canCall(msg.sender, owner, 0); }

    function aHolder(uint256 id) external { require(holderOf[id] == msg.sender); value = 1; }
    function aBalance(uint256 n) external { require(balances[msg.sender] >= n); value = 1; }
    function aApproved(address from) external { require(approved[from][msg.sender]); value = 1; }
    function aSame(address who) external { require(who == msg.sender); value = 1; }

    function nNothing() external { value = 1; }
    function nBlacklisted() external { require(!blacklisted[msg.sender]); value = 1; }
    function nDeposit() external payable { balances[msg.sender] += msg.value; }
    function nOther(address to) external { require(to != msg.sender); last = block.number; }
    function nClaim() public { owner = msg.sender; }
    function nZero() external { require(msg.sender != address(0)); value = 1; }
    receive() external payable {}
}
"""
EFFECTS = {
    "rBlacklist(address)": {"freeze"},
    "rWithdraw(address)": {"sendCoin"},
    "rTwo()": {"fees"},
    "nClaim()": {"ownership"},
    "rModifier()": set(),
}

COIN = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {Ownable2Step, Ownable} from "@openzeppelin/contracts/access/Ownable2Step.sol";

contract Coin is ERC20Pausable, AccessControl, Ownable2Step {
    bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");
    constructor() ERC20("Coin", "COIN") Ownable(msg.sender) {
        _grantRole(DEFAULT_ADMIN_ROLE, msg.sender);
        _grantRole(MINTER_ROLE, msg.sender);
    }
    function mint(address to, uint256 amount) external onlyRole(MINTER_ROLE) { _mint(to, amount); }
    function pause() external onlyOwner { _pause(); }
}
"""
COIN_ACCESS = {
    "mint(address,uint256)": "restricted",
    "pause()": "restricted",
    "transferOwnership(address)": "restricted",
    "acceptOwnership()": "restricted",
    "renounceOwnership()": "restricted",
    "grantRole(bytes32,address)": "restricted",
    "revokeRole(bytes32,address)": "restricted",
    "renounceRole(bytes32,address)": "arguments",
    "transfer(address,uint256)": "arguments",
    "transferFrom(address,address,uint256)": "arguments",
    "approve(address,uint256)": "unrestricted",
}

UPGRADEABLE = """// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
import {TransparentUpgradeableProxy} from
    "@openzeppelin/contracts/proxy/transparent/TransparentUpgradeableProxy.sol";

contract Vault is UUPSUpgradeable {
    address private _governor;
    uint256 public value;
    error NotGovernor();
    modifier onlyGovernor() { if (msg.sender != _governor) revert NotGovernor(); _; }
    function initialize(address governor) external {
        require(_governor == address(0));
        _governor = governor;
    }
    function set(uint256 to) external onlyGovernor { value = to; }
    function _authorizeUpgrade(address) internal override onlyGovernor {}
}
contract Proxy is ERC1967Proxy {
    constructor(address to, bytes memory call) ERC1967Proxy(to, call) {}
}
contract Transparent is TransparentUpgradeableProxy {
    constructor(address to, address owner, bytes memory call)
        TransparentUpgradeableProxy(to, owner, call) {}
}
"""
