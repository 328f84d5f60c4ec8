// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Collections of items in forms from before and beside ERC-721, and tokens that resemble them.

/// Has the functions and the event that its letters name, and items; or amounts, with "A".
contract AnyForm {
    bytes private _letters;
    mapping(address => uint256) private _balances;
    mapping(uint256 => address) private _owners;
    uint256 private _supply;
    uint256 private _first;
    uint256 private _last;
    address private _owner;
    address private immutable _maker = msg.sender;

    event ConsecutiveTransfer(uint256 indexed first, uint256 last, address indexed from, address indexed to);

    constructor(bytes memory letters) {
        _letters = letters;
    }

    function mint(address to, uint256 id) public {
        _move(address(0), to, id);
    }

    function transfer(address to, uint256 id) public {
        _move(msg.sender, to, id);
    }

    function burn(uint256 id) public {
        _move(msg.sender, address(0), id);
    }

    function mintAll(address to, uint256 first, uint256 count) external {
        for (uint256 id = first; id < first + count; id++) mint(to, id);
    }

    function mintAndBurn(uint256 id) external {
        mint(msg.sender, id);
        burn(id);
    }

    function mintAndPass(address to, uint256 id) external {
        mint(msg.sender, id);
        transfer(to, id);
    }

    /// Mints ids together (ERC-2309).
    function mintRange(address to, uint256 first, uint256 last) external {
        (_first, _last, _owner) = (first, last, to);
        _balances[to] += last - first + 1;
        _supply += last - first + 1;
        emit ConsecutiveTransfer(first, last, address(0), to);
    }

    /// Exchanges the owners of two ids without an event.
    function swap(uint256 a, uint256 b) external {
        (_owners[a], _owners[b]) = (_owners[b], _owners[a]);
    }

    function change(bytes memory letters) external {
        _letters = letters;
    }

    function _has(bytes1 letter) private view returns (bool) {
        for (uint256 i; i < _letters.length; i++) if (_letters[i] == letter) return true;
        return false;
    }

    function _move(address from, address to, uint256 word) private {
        uint256 amount = _has("A") ? word : 1;
        if (from == address(0)) _supply += amount;
        else _balances[from] -= amount;
        if (to == address(0)) _supply -= amount;
        else _balances[to] += amount;
        _owners[word] = to;
        bytes32 topic = keccak256("Transfer(address,address,uint256)");
        bytes32 party = bytes32(uint256(uint160(from)));
        bytes32 other = bytes32(uint256(uint160(to)));
        bytes memory data = _has("1")
            ? abi.encode(from, to, word)
            : _has("2")
                ? abi.encode(to, word)
                : _has("4") ? bytes("") : abi.encode(_has("R") ? uint256(uint160(to)) : word);
        if (_has("R")) other = bytes32(word); // the recipient in data
        (bool is1, bool is2, bool is4) = (_has("1"), _has("2"), _has("4"));
        assembly {
            let start := add(data, 32)
            let size := mload(data)
            if is1 { log1(start, size, topic) }
            if is2 { log2(start, size, topic, party) }
            if is4 { log4(start, 0, topic, party, other, word) }
            if iszero(or(is1, or(is2, is4))) { log3(start, size, topic, party, other) }
        }
    }

    fallback(bytes calldata input) external returns (bytes memory) {
        if (msg.sig == bytes4(keccak256("decimals()"))) {
            if (_has("d")) return abi.encode(0);
            if (_has("D")) return abi.encode(18);
        }
        if (msg.sig == bytes4(keccak256("totalSupply()")) && _has("s")) return abi.encode(_supply);
        if (msg.sig == bytes4(keccak256("totalSupply()")) && _has("v")) return abi.encode(1e24); // votes
        if (msg.sig == bytes4(keccak256("balanceOf(address)")) && _has("b")) {
            return abi.encode(_balances[abi.decode(input[4:], (address))]);
        }
        if (msg.sig == bytes4(keccak256("supportsInterface(bytes4)")) && _has("7")) {
            bytes4 id = abi.decode(input[4:], (bytes4));
            return abi.encode(id == 0x01ffc9a7 || id == 0x80ac58cd);
        }
        if (msg.sig == bytes4(keccak256("ownerOf(uint256)"))) {
            if (_has("c")) return abi.encode(_maker);
            uint256 item = abi.decode(input[4:], (uint256));
            address owner = _owners[item];
            if (owner == address(0) && item >= _first && item <= _last) owner = _owner;
            require(_has("o") && owner != address(0), "no such item");
            return abi.encode(owner);
        }
        revert("no such function");
    }
}
