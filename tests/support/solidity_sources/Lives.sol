// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Contracts that end, and others at their addresses.

/// Creates contracts with any code at one address, each after the one before has ended.
contract Cradle {
    bytes public body;

    function bear(bytes calldata body_) external {
        body = body_;
        new Born{salt: 0}();
    }
}

contract Born {
    constructor() {
        bytes memory body = Cradle(msg.sender).body();
        assembly {
            return(add(body, 32), mload(body))
        }
    }
}

contract MortalCoin {
    mapping(address => uint256) public balanceOf;
    uint256 public totalSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed to, uint256 value);

    function name() external pure virtual returns (string memory) {
        return "First";
    }

    function symbol() external pure virtual returns (string memory) {
        return "FIRST";
    }

    function decimals() external pure virtual returns (uint8) {
        return 18;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        totalSupply += value;
        emit Transfer(address(0), to, value);
    }

    function wrap(address to, uint256 value) external {
        balanceOf[to] += value;
        totalSupply += value;
        emit Deposit(to, value);
    }

    function end() external {
        selfdestruct(payable(msg.sender));
    }
}

contract SecondCoin is MortalCoin {
    function name() external pure override returns (string memory) {
        return "Second";
    }

    function symbol() external pure override returns (string memory) {
        return "SECOND";
    }

    function decimals() external pure override returns (uint8) {
        return 6;
    }
}

contract MortalItems {
    string public constant name = "Items";
    string public constant symbol = "ITEMS";
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd;
    }

    function mint(address to, uint256 id) external {
        ownerOf[id] = to;
        balanceOf[to]++;
        emit Transfer(address(0), to, id);
    }

    function end() external {
        selfdestruct(payable(msg.sender));
    }
}

contract MortalGoods {
    string public constant name = "Items";
    string public constant symbol = "ITEMS";
    mapping(address => mapping(uint256 => uint256)) public balanceOf;

    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value);

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26;
    }

    function mint(address to, uint256 id) external {
        balanceOf[to][id] += 3;
        emit TransferSingle(msg.sender, address(0), to, id, 3);
    }

    function end() external {
        selfdestruct(payable(msg.sender));
    }
}
