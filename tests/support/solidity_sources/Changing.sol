// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ERC1967Utils} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Utils.sol";
import {Proxy} from "@openzeppelin/contracts/proxy/Proxy.sol";

// What contracts answer is of a block: these answer something else later.

/// Passes calls on to an implementation that anybody may replace.
contract Replaceable is Proxy {
    constructor(address implementation) {
        replace(implementation);
    }

    function replace(address implementation) public {
        ERC1967Utils.upgradeToAndCall(implementation, "");
    }

    function _implementation() internal view override returns (address) {
        return ERC1967Utils.getImplementation();
    }
}

/// Counts in 10^-18, and is named, and named anew, without an event.
contract WideCoin {
    mapping(address => uint256) public balanceOf;
    uint256 public totalSupply;
    string public name;
    string public symbol;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function decimals() external pure virtual returns (uint8) {
        return 18;
    }

    function label(string calldata name_, string calldata symbol_) public virtual {
        name = name_;
        symbol = symbol_;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        totalSupply += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Says by an event that it is named.
contract NamedCoin is WideCoin {
    event NameSet(string name);

    function label(string calldata name_, string calldata symbol_) public override {
        super.label(name_, symbol_);
        emit NameSet(name_);
    }
}

/// Has a token named, so that no transaction calls the token itself.
contract Renamer {
    function rename(WideCoin coin, string calldata name, string calldata symbol) external {
        coin.label(name, symbol);
    }
}

/// What replaces it counts in 10^-6.
contract NarrowCoin is WideCoin {
    function decimals() external pure override returns (uint8) {
        return 6;
    }
}

/// Wraps coin, but does not answer as a token before it is awake.
contract LateWrapper {
    bool public awake;
    mapping(address => uint256) public balanceOf;

    event Deposit(address indexed to, uint256 value);

    function wake() external {
        awake = true;
    }

    function name() external view returns (string memory) {
        require(awake);
        return "Late Wrapper";
    }

    function symbol() external view returns (string memory) {
        require(awake);
        return "LATE";
    }

    function decimals() external view returns (uint8) {
        require(awake);
        return 18;
    }

    function totalSupply() external view returns (uint256) {
        return address(this).balance;
    }

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }
}

/// Swaps as a pair of Uniswap V2 says it, but does not say of what before it is awake.
contract LatePair {
    bool public awake;
    address private immutable _token0;
    address private immutable _token1;

    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );

    constructor(address token0_, address token1_) {
        (_token0, _token1) = (token0_, token1_);
    }

    function wake() external {
        awake = true;
    }

    function token0() external view returns (address) {
        require(awake);
        return _token0;
    }

    function token1() external view returns (address) {
        require(awake);
        return _token1;
    }

    function swap(uint256 amount) external {
        emit Swap(msg.sender, amount, 0, 0, 2 * amount, msg.sender);
    }
}
