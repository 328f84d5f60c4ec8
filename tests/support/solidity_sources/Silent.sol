// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Balances that change otherwise than events say.

/// Of a first holder without an event, unless that is logged; it takes a fee of a tenth that its event does not say.
contract SilentCoin {
    string public name = "Silent";
    string public symbol = "HUSH";
    uint8 public constant decimals = 18;
    mapping(address => uint256) internal shares;
    uint256 internal allShares;
    uint256 public factor = 1;
    bool public takesFee;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply, bool logged, bool takesFee_) {
        shares[msg.sender] = supply;
        allShares = supply;
        takesFee = takesFee_;
        if (logged) emit Transfer(address(0), msg.sender, supply);
    }

    function balanceOf(address holder) public view returns (uint256) {
        return shares[holder] * factor;
    }

    function totalSupply() external view returns (uint256) {
        return allShares * factor;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 fee = takesFee ? value / 10 : 0;
        shares[msg.sender] -= value / factor;
        shares[to] += (value - fee) / factor;
        shares[address(this)] += fee / factor;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function burn(uint256 value) external {
        shares[msg.sender] -= value / factor;
        allShares -= value / factor;
    }

    function bury(uint256 value) external {
        shares[msg.sender] -= value;
        shares[address(0)] += value;
        emit Transfer(msg.sender, address(0), value);
    }

    function rebase(uint256 factor_) external {
        factor = factor_;
    }
}

/// Has a token rebased, so that no transaction calls the token itself.
contract SilentKeeper {
    function keep(SilentCoin coin, uint256 factor) external {
        coin.rebase(factor);
    }
}

/// NFTs without totalSupply(), of which some move without an event.
contract SilentNfts {
    mapping(uint256 => address) public owners;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function ownerOf(uint256 id) external view returns (address) {
        require(owners[id] != address(0), "no such token");
        return owners[id];
    }

    function move(address to, uint256 id, bool logged) external {
        address from = owners[id];
        if (from != address(0)) balanceOf[from]--;
        if (to != address(0)) balanceOf[to]++;
        owners[id] = to;
        if (logged) emit Transfer(from, to, id);
    }
}

/// Items of which one holder gets more than events say.
contract SilentItems {
    mapping(address => mapping(uint256 => uint256)) public balanceOf;

    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26;
    }

    function mint(address to, uint256 id, uint256 value, uint256 logged) external {
        balanceOf[to][id] += value;
        emit TransferSingle(msg.sender, address(0), to, id, logged);
    }
}

/// Grows by a hundredth of its first balances with every second.
contract SilentInterest {
    string public name = "Interest";
    string public symbol = "GROW";
    uint8 public constant decimals = 18;
    mapping(address => uint256) internal shares;
    uint256 internal allShares;
    uint256 internal immutable since = block.timestamp;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply) {
        shares[msg.sender] = allShares = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function balanceOf(address holder) public view returns (uint256) {
        return shares[holder] * (100 + block.timestamp - since) / 100;
    }

    function totalSupply() external view returns (uint256) {
        return allShares * (100 + block.timestamp - since) / 100;
    }
}

/// Burns all gas that each of its calls is given, but for its maker's, which have it emit events.
contract GasSink {
    address internal immutable maker = msg.sender;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Upgraded(address indexed implementation);
    event Deposit(address indexed to, uint256 value);
    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );

    fallback() external {
        if (msg.sender != maker) {
            assembly {
                for {} 1 {} {}
            }
        }
        uint8 kind = uint8(msg.data[0]);
        if (kind == 0) emit Transfer(address(0), maker, 1);
        if (kind == 1) emit Upgraded(address(0));
        if (kind == 2) emit Deposit(maker, 1);
        if (kind == 3) emit Swap(maker, 1, 0, 0, 1, maker);
        if (kind == 4) {
            bytes32 transfer = Transfer.selector;
            address to = maker;
            assembly {
                log4(0, 0, transfer, 0, to, 1)
            }
        }
    }
}

contract GasSinks {
    GasSink[] internal made;

    function make(uint256 count) external {
        for (uint256 i = 0; i < count; i++) made.push(new GasSink());
    }

    function emitAll(uint8 kind) external {
        for (uint256 i = 0; i < made.length; i++) {
            (bool done,) = address(made[i]).call(abi.encodePacked(kind));
            require(done);
        }
    }
}
