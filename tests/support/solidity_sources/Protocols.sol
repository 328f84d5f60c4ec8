// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";
import {ERC6909} from "@openzeppelin/contracts/token/ERC6909/ERC6909.sol";

// Tokens and exchanges of further protocols.

/// ERC-2309: items minted in one event.
contract Series is ERC721Consecutive {
    constructor(address owner, uint96 count) ERC721("Series", "SER") {
        _mintConsecutive(owner, count);
    }
}

/// Any range of ids, as free as an event is.
contract Ranges is ERC721("Ranges", "RNG") {
    event ConsecutiveTransfer(
        uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress
    );

    mapping(address => uint256) private held;

    function balanceOf(address owner) public view override returns (uint256) {
        return held[owner];
    }

    function claim(uint256 first, uint256 last, address from, address to) external {
        emit ConsecutiveTransfer(first, last, from, to);
        move(from, to, first, last);
    }

    function pass(address from, address to, uint256 id) external {
        emit Transfer(from, to, id);
        move(from, to, id, id);
    }

    /// 2^256 ids count as none.
    function move(address from, address to, uint256 first, uint256 last) private {
        unchecked {
            uint256 count = last - first + 1;
            if (from != address(0)) held[from] -= count;
            held[to] += count;
        }
    }
}

contract Ids is ERC6909 {
    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount);
    }

    function burn(address from, uint256 id, uint256 amount) external {
        _burn(from, id, amount);
    }
}

/// As an ERC-20 but for its event, in which only the sender is indexed.
contract SenderIndexed {
    string public constant name = "Sender Indexed";
    string public constant symbol = "SIDX";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        totalSupply += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}

/// An ERC-20 that has amounts of ids, too, with the functions and events of ERC-1155.
contract CoinsAndIds is ERC20("Coins and Ids", "COID") {
    mapping(uint256 => mapping(address => uint256)) private _held;

    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );

    function balanceOf(address owner, uint256 id) external view returns (uint256) {
        return _held[id][owner];
    }

    function isApprovedForAll(address, address) external pure returns (bool) {
        return false;
    }

    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function mintId(address to, uint256 id, uint256 value) external {
        _held[id][to] += value;
        emit TransferSingle(msg.sender, address(0), to, id, value);
    }
}

/// Says that it has more decimals than a uint8 has room for.
contract ManyDecimals is ERC20("Many Decimals", "MANY") {
    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    fallback() external {}

    function decimals() public pure override returns (uint8) {
        assembly {
            mstore(0, 256)
            return(0, 32)
        }
    }
}

interface Depositable {
    function depositTo(address to) external payable;
}

/// Sends its coin to a wrapper inside a call that brings none.
contract Purser {
    constructor() payable {}

    function wrap(Depositable wrapper, address to, uint256 value) external {
        wrapper.depositTo{value: value}(to);
    }
}

/// As Velodrome V2: the factory names pools by their tokens and whether they are stable.
contract StablePool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;

    event Swap(
        address indexed sender,
        address indexed to,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out
    );

    constructor(address token0_, address token1_, bool stable_) {
        (factory, token0, token1, stable) = (msg.sender, token0_, token1_, stable_);
    }

    function swap(uint256 in0, uint256 in1, uint256 out0, uint256 out1) external {
        emit Swap(msg.sender, msg.sender, in0, in1, out0, out1);
    }
}

contract StableFactory {
    mapping(address => mapping(address => mapping(bool => address))) public getPool;

    function createPool(address token0, address token1, bool stable) external returns (address pool) {
        pool = address(new StablePool(token0, token1, stable));
        getPool[token0][token1][stable] = pool;
    }
}

/// Names itself as it is told, and lets anybody move anybody's nothing, or say so.
contract Lookalike is ERC20 {
    constructor(string memory name_, string memory symbol_, address[] memory holders) ERC20(name_, symbol_) {
        for (uint256 i; i < holders.length; i++) _mint(holders[i], 1000);
    }

    function claim(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// As Uniswap V4: one contract has all pools, and says of each what it is when it begins.
contract PoolManager {
    event Initialize(
        bytes32 indexed id,
        address indexed currency0,
        address indexed currency1,
        uint24 fee,
        int24 tickSpacing,
        address hooks,
        uint160 sqrtPriceX96,
        int24 tick
    );
    event Swap(
        bytes32 indexed id,
        address indexed sender,
        int128 amount0,
        int128 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint24 fee
    );

    function initialize(address currency0, address currency1, uint24 fee) external {
        claim(keccak256(abi.encode(currency0, currency1, fee, int24(60), address(0))), currency0, currency1, fee);
    }

    function claim(bytes32 id, address currency0, address currency1, uint24 fee) public {
        emit Initialize(id, currency0, currency1, fee, 60, address(0), 2 ** 96, 0);
    }

    /// Amounts are the swapper's: what is paid is below 0.
    function swap(bytes32 id, int128 amount0, int128 amount1) external {
        emit Swap(id, msg.sender, amount0, amount1, 2 ** 96, 1, 0, 3000);
    }
}
