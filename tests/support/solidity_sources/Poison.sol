// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Tokens that nobody should deploy, and somebody always does.

abstract contract Emitter {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function emitTransfer(address from, address to, uint256 value) external {
        emit Transfer(from, to, value);
    }
}

/// Books kept by the events alone; subclasses lie about the rest.
abstract contract Ledger {
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

contract NulName is Ledger {
    string public name = unicode"\u0000Nul\u0000 in\u0001 the\u007f\u0085 name\n";
    string public symbol = unicode"N\u0000UL";
    uint8 public decimals = 18;
    uint256 public totalSupply = 1000;
}

/// Metadata of the time before `string`, as MKR has it.
contract Bytes32Name is Ledger {
    bytes32 public name = "Maker of old";
    bytes32 public symbol = "MKR";
    uint256 public decimals = 18;
    uint256 public totalSupply = 1000;
}

/// A symbol and a name that are cut.
contract LongName is Ledger {
    uint8 public decimals = 6;
    uint256 public totalSupply = type(uint256).max;

    function name() external pure returns (string memory) {
        return _repeat("A", 5000);
    }

    function symbol() external pure returns (string memory) {
        return _repeat("S", 4000);
    }

    function _repeat(bytes1 letter, uint256 length) private pure returns (string memory) {
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = letter;
        return string(text);
    }
}

/// Texts of any length, for little gas.
contract LongTexts is Ledger {
    uint8 public decimals = 6;
    uint256 public totalSupply = 5;
    uint256 private immutable nameLength;
    uint256 private immutable symbolLength;

    constructor(uint256 nameLength_, uint256 symbolLength_) {
        (nameLength, symbolLength) = (nameLength_, symbolLength_);
    }

    function name() external view returns (string memory) {
        _return(nameLength, "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN");
    }

    function symbol() external view returns (string memory) {
        _return(symbolLength, "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS");
    }

    function _return(uint256 length, bytes32 letters) private pure {
        assembly {
            let end := add(64, length)
            mstore(0, 32)
            mstore(32, length)
            for { let at := 64 } lt(at, end) { at := add(at, 32) } { mstore(at, letters) }
            return(0, and(add(end, 31), not(31)))
        }
    }
}

/// Long texts that cost gas: made letter by letter.
contract LoopedTexts is Ledger {
    uint8 public decimals = 6;
    uint256 public totalSupply = 5;

    function name() external pure returns (string memory) {
        return _repeat("N", 10_000);
    }

    function symbol() external pure returns (string memory) {
        return _repeat("S", 10_000);
    }

    function _repeat(bytes1 letter, uint256 length) private pure returns (string memory) {
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = letter;
        return string(text);
    }
}

contract InvalidUtf8Name is Ledger {
    uint8 public decimals = 18;
    uint256 public totalSupply = 1000;

    function name() external pure returns (string memory) {
        bytes memory raw = hex"42616420ff20c3282062797465732e";
        return string(raw);
    }

    function symbol() external pure returns (string memory) {
        bytes memory raw = hex"ff42ff";
        return string(raw);
    }
}

contract RevertingName is Ledger {
    uint256 public totalSupply = 1000;

    function name() external pure returns (string memory) {
        revert("nameless");
    }

    function symbol() external pure returns (string memory) {
        revert();
    }

    function decimals() external pure returns (uint8) {
        revert();
    }
}

contract HugeDecimals is Ledger {
    string public name = "Huge decimals";
    string public symbol = "HUGE";
    uint256 public decimals = 2 ** 255;
    uint256 public totalSupply = 1000;
}

contract RevertingSupply is Ledger {
    string public name = "No supply";
    string public symbol = "NOSUP";
    uint8 public decimals = 18;

    function totalSupply() external pure returns (uint256) {
        revert("unknown");
    }
}

/// Transfers from a contract that answers nothing at all.
contract Silent {
    event Transfer(address indexed from, address indexed to, uint256 value);

    fallback() external {
        (address from, address to, uint256 value) = abi.decode(
            msg.data,
            (address, address, uint256)
        );
        emit Transfer(from, to, value);
    }
}

contract GasBurner is Ledger {
    string public symbol = "BURN";
    uint8 public decimals = 18;
    uint256 public totalSupply = 1000;

    function name() external pure returns (string memory) {
        while (true) {}
        return "";
    }
}

/// Answers that are no strings: an offset to nowhere, and a length beyond the data.
contract BrokenStrings is Ledger {
    uint8 public decimals = 18;
    uint256 public totalSupply = 1000;

    function name() external pure {
        assembly {
            mstore(0, not(0))
            mstore(32, 1)
            return(0, 64)
        }
    }

    function symbol() external pure {
        assembly {
            mstore(0, 32)
            mstore(32, 0xffffffff)
            return(0, 64)
        }
    }
}

/// Any call is answered by an empty success, as a contract with a bare fallback does.
contract EmptyAnswers is Emitter {
    fallback() external {}
}

/// As CryptoKitties: an ERC-721 of the time before topics were agreed on.
contract Kitties {
    string public name = "CryptoKitties";
    string public symbol = "CK";
    uint256 public totalSupply;
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;

    event Transfer(address from, address to, uint256 tokenId);

    function mint(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == address(0));
        totalSupply++;
        _move(address(0), to, tokenId);
    }

    function transfer(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == msg.sender);
        balanceOf[msg.sender]--;
        _move(msg.sender, to, tokenId);
    }

    function _move(address from, address to, uint256 tokenId) private {
        ownerOf[tokenId] = to;
        balanceOf[to]++;
        emit Transfer(from, to, tokenId);
    }
}

/// The same event from a coin: decimals() tells it from a collectible.
contract UnindexedCoin {
    string public name = "Unindexed";
    string public symbol = "UNI";
    uint8 public decimals = 8;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address from, address to, uint256 value);

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}

/// Four topics as an ERC-721, without ERC-165 to confirm it.
contract Unannounced721 {
    string public name = "Unannounced";
    string public symbol = "UNA";
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    function mint(address to, uint256 tokenId) external {
        ownerOf[tokenId] = to;
        balanceOf[to]++;
        emit Transfer(address(0), to, tokenId);
    }
}

/// Sends what nobody has: balances by its events fall below zero.
contract Liar is Emitter {
    string public name = "Liar";
    string public symbol = "LIAR";
    uint8 public decimals = 18;
    uint256 public totalSupply = 10 ** 24;

    function balanceOf(address) external pure returns (uint256) {
        return 10 ** 24;
    }
}

/// Deposit and Withdrawal as a wrapper emits them, from something that is no token.
contract Staking {
    mapping(address => uint256) public staked;

    event Deposit(address indexed dst, uint256 wad);
    event Withdrawal(address indexed src, uint256 wad);

    function deposit() external payable {
        staked[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 wad) external {
        staked[msg.sender] -= wad;
        payable(msg.sender).transfer(wad);
        emit Withdrawal(msg.sender, wad);
    }
}

/// One type by ERC-165, another by the shape of its events, and more than one shape.
contract ShapeShifter {
    string public name = "Shape shifter";
    string public symbol = "SHAPE";
    uint8 public decimals = 2;
    bytes4 public claimed;
    bool public claimsAll;

    event TransferSingle(
        address indexed operator,
        address indexed from,
        address indexed to,
        uint256 id,
        uint256 value
    );

    constructor(bytes4 claimed_, bool claimsAll_) {
        claimed = claimed_;
        claimsAll = claimsAll_;
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        if (claimsAll) return true;
        return id == 0x01ffc9a7 || (id == claimed && id != 0xffffffff);
    }

    function threeTopics(address from, address to, uint256 word) external {
        _transfer(from, to, word, false);
    }

    function fourTopics(address from, address to, uint256 word) external {
        _transfer(from, to, word, true);
    }

    function single(address from, address to, uint256 id, uint256 value) external {
        emit TransferSingle(msg.sender, from, to, id, value);
    }

    function _transfer(address from, address to, uint256 word, bool indexed_) private {
        bytes32 topic = keccak256("Transfer(address,address,uint256)");
        assembly {
            mstore(0, word)
            switch indexed_
            case 0 { log3(0, 32, topic, from, to) }
            default { log4(0, 0, topic, from, to, word) }
        }
    }
}

/// Emits any log at all: malformed batches, dirty address topics, odd lengths.
contract RawLogs {
    function log(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        uint256 count = topics.length;
        bytes32[4] memory topic;
        for (uint256 i = 0; i < count; i++) topic[i] = topics[i];
        assembly {
            let from := add(copy, 32)
            let size := mload(copy)
            let first := mload(topic)
            let second := mload(add(topic, 32))
            let third := mload(add(topic, 64))
            let fourth := mload(add(topic, 96))
            switch count
            case 0 { log0(from, size) }
            case 1 { log1(from, size, first) }
            case 2 { log2(from, size, first, second) }
            case 3 { log3(from, size, first, second, third) }
            default { log4(from, size, first, second, third, fourth) }
        }
    }
}

/// A token whose code is gone when anybody asks: it moved and died in its constructor.
contract Vanishing {
    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        emit Transfer(address(0), msg.sender, 1);
        selfdestruct(payable(msg.sender));
    }
}
