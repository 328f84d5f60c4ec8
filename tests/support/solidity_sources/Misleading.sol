// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// What an account may delegate to (EIP-7702): half of its coins leave for nothing sent, 10 for data.
contract Leak {
    address constant TO = 0x00000000000000000000000000000000DeaDBeef;

    fallback() external payable {
        uint256 value = msg.data.length == 0 ? address(this).balance / 2 : 10 ether;
        (bool done,) = TO.call{value: value}("");
        require(done);
    }
}

/// Names itself as it likes, and lets its deployer approve for others.
contract LooseToken is ERC20 {
    constructor(string memory name_, string memory symbol_) ERC20(name_, symbol_) {
        _mint(msg.sender, 10 ** 30);
    }

    function allow(address owner, address spender, uint256 value) external {
        _approve(owner, spender, value);
    }
}

contract LooseItems is ERC721 {
    constructor(string memory name_, string memory symbol_) ERC721(name_, symbol_) {}

    function mint(uint256 id) external {
        _mint(msg.sender, id);
    }
}

/// A pool by its own word, of any factory. What it moves need not be what it says.
contract LoosePool {
    address public immutable factory;
    LooseToken public immutable token0;
    LooseToken public immutable token1;

    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );

    constructor(address factory_, LooseToken token0_, LooseToken token1_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
    }

    function trade(uint256 moved, uint256 said, address to) public {
        token0.transferFrom(msg.sender, address(this), moved);
        token1.transfer(to, moved);
        emit Swap(msg.sender, said, 0, 0, said, to);
    }

    /// One token moves; the other is only said to.
    function takeAlone(uint256 amount) external {
        token0.transferFrom(msg.sender, address(this), amount);
        emit Swap(msg.sender, amount, 0, 0, amount, msg.sender);
    }

    function giveAlone(uint256 amount) external {
        token1.transfer(msg.sender, amount);
        emit Swap(msg.sender, amount, 0, 0, amount, msg.sender);
    }

    function flood(uint256 times) external {
        for (uint256 n = 0; n < times; n++) {
            emit Swap(msg.sender, 1, 0, 0, 1, msg.sender);
        }
    }

    function tradeAndApprove(uint256 moved, address spender) external {
        trade(moved, moved, msg.sender);
        token0.allow(msg.sender, spender, 7 ether);
    }
}

/// Where Permit2 is: lets a spender spend what it may itself, as its permit() does.
contract Permits {
    event Approval(
        address indexed owner,
        address indexed token,
        address indexed spender,
        uint160 amount,
        uint48 expiration
    );

    function approve(address token, address spender, uint160 amount, uint48 expiration) external {
        emit Approval(tx.origin, token, spender, amount, expiration);
    }
}

/// Calls Permit2 for its caller, among others.
contract Batch {
    function permit(Permits permits, address token, address spender, uint160 amount) external {
        permits.approve(token, spender, amount, 0);
    }
}

/// Emits what others emit when something changes; nothing of it does.
contract Pretender {
    address public owner = address(1);
    bool public paused;

    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event Upgraded(address indexed implementation);
    event Paused(address account);
    event PairCreated(address indexed token0, address indexed token1, address pair, uint256 count);

    function renounce() external {
        emit OwnershipTransferred(owner, address(0));
    }

    function give(address to) external {
        emit OwnershipTransferred(owner, to);
    }

    function upgrade(address to) external {
        emit Upgraded(to);
    }

    function pause() external {
        emit Paused(msg.sender);
    }

    function createPair(address token0, address token1) external {
        emit PairCreated(token0, token1, address(this), 1);
    }

    /// The same, and true.
    function giveTruly(address to) external {
        emit OwnershipTransferred(owner, to);
        owner = to;
    }

    function pauseTruly() external {
        paused = true;
        emit Paused(msg.sender);
    }

    function upgradeTruly(address to) external {
        assembly {
            sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, to)
        }
        emit Upgraded(to);
    }

    function fail(string calldata words) external pure {
        revert(words);
    }

    /// Its code would have 30,000 bytes, more than EIP-170 allows.
    function createTooLarge() external {
        assembly {
            mstore(0, shl(208, 0x6175306000f3))
            if iszero(create(0, 0, 6)) { revert(0, 0) }
        }
    }

    function payWhileReading() external {
        (bool done,) = address(this).staticcall(abi.encodeCall(this.pay, ()));
        if (!done) {
            assembly {
                revert(0, 0)
            }
        }
    }

    function pay() external {
        assembly {
            if iszero(call(gas(), 1, 1, 0, 0, 0, 0)) { revert(0, 0) }
        }
    }
}

contract nobody {
    function approved() external pure returns (bool) {
        return true;
    }
}

/// Takes any name, and says by its events, or answers, that many hold it who do not.
contract Named {
    string public name;
    string public symbol;
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) internal held;
    uint160 internal constant PHANTOMS = uint160(0xABCD) << 140;
    uint160 internal phantoms;
    bool internal isPretending;
    bool internal isOfAll;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory symbol_) {
        label(symbol_);
    }

    function label(string memory symbol_) public {
        (name, symbol) = (symbol_, symbol_);
    }

    function balanceOf(address holder) external view returns (uint256) {
        bool isPhantom = uint160(holder) > PHANTOMS && uint160(holder) <= PHANTOMS + phantoms;
        return isPretending && (isOfAll || isPhantom) ? 1e9 : held[holder];
    }

    function pretend(bool ofAll) external {
        (isPretending, isOfAll) = (true, ofAll);
    }

    function mint(address to, uint256 value) public {
        held[to] += value;
        totalSupply += value;
        emit Transfer(address(0), to, value);
    }

    function mintMany(uint160 count) external {
        for (uint160 i = 1; i <= count; i++) mint(address(PHANTOMS + i), 1);
    }

    function transferFrom(address from, address to, uint256 value) external {
        held[from] -= value;
        held[to] += value;
        emit Transfer(from, to, value);
    }

    function fake(uint160 count) external {
        phantoms += count;
        for (uint160 i = 1; i <= count; i++) emit Transfer(address(0), address(PHANTOMS + i), 1e9);
    }

    function makeTrue(address holder, uint256 value) external {
        held[holder] = value;
    }
}
