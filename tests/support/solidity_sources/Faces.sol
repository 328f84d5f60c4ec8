// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {IERC20} from "@openzeppelin/contracts/interfaces/IERC20.sol";
import {IERC721} from "@openzeppelin/contracts/interfaces/IERC721.sol";
import {IERC1155} from "@openzeppelin/contracts/interfaces/IERC1155.sol";
import {IERC2309} from "@openzeppelin/contracts/interfaces/IERC2309.sol";
import {IERC6909} from "@openzeppelin/contracts/interfaces/IERC6909.sol";

// Tokens whose events look like those of another standard.

/// Takes assets for fewer shares, and notes the assets.
contract ShareVault is ERC20("Vault Shares", "SHARE") {
    event Deposit(address indexed owner, uint256 assets);
    event Withdrawal(address indexed owner, uint256 assets);

    function put(uint256 assets) external payable {
        _mint(msg.sender, assets / 5 * 4);
        emit Deposit(msg.sender, assets);
    }

    function take(uint256 assets) external {
        _burn(msg.sender, assets / 5 * 4);
        emit Withdrawal(msg.sender, assets);
    }
}

/// Keeps what is staked itself, and notes it.
contract StakedCoin is ERC20("Staked Coin", "STAKE") {
    event Deposit(address indexed owner, uint256 value);

    constructor(uint256 supply) {
        _mint(msg.sender, supply);
    }

    function stake(uint256 value) external {
        _transfer(msg.sender, address(this), value);
        emit Deposit(msg.sender, value);
    }
}

/// Whole units are items, too, as in ERC-404, whose events have names of their own in some.
contract WholeUnits {
    string public constant name = "Whole Units";
    string public constant symbol = "WHOLE";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) private _owners;
    uint256 private _last;
    Names private _names;

    enum Names {
        Transfers,
        AmountsNamed,
        BothNamed,
        LoggedTwice
    }

    constructor(uint256 count, bool itemsFirst, Names names) {
        _names = names;
        if (itemsFirst) _items(count);
        balanceOf[msg.sender] = totalSupply = count * 1e18;
        _log(address(0), msg.sender, totalSupply, false);
        if (!itemsFirst) _items(count);
    }

    function ownerOf(uint256 id) external view returns (address) {
        require(_owners[id] != address(0), "no such item");
        return _owners[id];
    }

    function pass(address to, uint256 id) external {
        require(_owners[id] == msg.sender, "not yours");
        _owners[id] = to;
        balanceOf[msg.sender] -= 1e18;
        balanceOf[to] += 1e18;
        _log(msg.sender, to, 1e18, false);
        _log(msg.sender, to, id, true);
    }

    function _items(uint256 count) private {
        for (uint256 i; i < count; i++) {
            _owners[++_last] = msg.sender;
            _log(address(0), msg.sender, _last, true);
        }
    }

    function claim(address to, uint256 amount) external {
        _log(address(0), to, amount, false);
    }

    function _log(address from, address to, uint256 word, bool isItem) private {
        bytes32 named = isItem
            ? keccak256("ERC721Transfer(address,address,uint256)")
            : keccak256("ERC20Transfer(address,address,uint256)");
        bool isNamed = _names >= Names.BothNamed || (_names == Names.AmountsNamed && !isItem);
        if (isNamed) _emit(named, from, to, word, isItem);
        if (!isNamed || _names == Names.LoggedTwice) {
            _emit(keccak256("Transfer(address,address,uint256)"), from, to, word, isItem);
        }
    }

    function _emit(bytes32 topic, address from, address to, uint256 word, bool isItem) private {
        assembly {
            mstore(0, word)
            switch isItem
            case 0 { log3(0, 32, topic, from, to) }
            default { log4(0, 0, topic, from, to, word) }
        }
    }
}

/// An ERC-1155 that logs its amounts as an ERC-20 does, too.
contract TwiceLogged is ERC1155("") {
    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 id, uint256 value) external {
        emit Transfer(address(0), to, value);
        _mint(to, id, value, "");
    }
}

/// Has some functions of tokens, as are given, and mints with the event of any standard.
contract SomeFunctions {
    bytes private _functions;
    bytes4 private _interface;
    uint256 private _supply;
    mapping(bytes32 => uint256) private _balances;

    constructor(bytes memory functions, bytes4 interface_) {
        (_functions, _interface) = (functions, interface_);
    }

    function supportsInterface(bytes4 id) external view returns (bool) {
        return id == _interface || (id == 0x01ffc9a7 && _interface != 0);
    }

    function mint(bytes1 standard, uint256 id, uint256 value) external {
        bool isOfId = standard == "m" || standard == "6";
        _balances[isOfId ? keccak256(abi.encode(msg.sender, id)) : keccak256(abi.encode(msg.sender))] += value;
        if (!isOfId) _supply += value;
        if (standard == "a") emit IERC20.Transfer(address(0), msg.sender, value);
        if (standard == "i") emit IERC721.Transfer(address(0), msg.sender, id);
        if (standard == "c") emit IERC2309.ConsecutiveTransfer(id, id, address(0), msg.sender);
        if (standard == "m") emit IERC1155.TransferSingle(msg.sender, address(0), msg.sender, id, value);
        if (standard == "6") emit IERC6909.Transfer(msg.sender, address(0), msg.sender, id, value);
    }

    fallback(bytes calldata input) external returns (bytes memory) {
        for (uint256 i; i < _functions.length; i++) {
            bytes1 name = _functions[i];
            if (name == "d" && msg.sig == bytes4(keccak256("decimals()"))) return abi.encode(18);
            if (name == "s" && msg.sig == IERC20.totalSupply.selector) return abi.encode(_supply);
            if (name == "a" && msg.sig == IERC721.isApprovedForAll.selector) return abi.encode(0);
            bool isBalance = name == "b" && msg.sig == IERC20.balanceOf.selector;
            isBalance = isBalance || (name == "i" && msg.sig == IERC1155.balanceOf.selector);
            if (isBalance) return abi.encode(_balances[keccak256(input[4:])]);
        }
        revert("no such function");
    }
}

/// An ERC-20 but for its event, whose value is a topic.
contract IndexedValue {
    string public constant name = "Indexed Value";
    string public constant symbol = "INDEX";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 indexed value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        totalSupply += value;
        emit Transfer(address(0), to, value);
    }
}

/// As WETH9, with a burn that is a Transfer.
contract BurntWrapper {
    string public constant name = "Burnt Wrapper";
    string public constant symbol = "BURNT";
    uint8 public constant decimals = 18;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed to, uint256 value);
    event Withdrawal(address indexed from, uint256 value);

    function totalSupply() external view returns (uint256) {
        return address(this).balance;
    }

    function depositTo(address to) external payable {
        balanceOf[to] += msg.value;
        emit Deposit(to, msg.value);
    }

    /// Two equal amounts leave in one transaction.
    function burnAndWithdraw(uint256 value) external {
        balanceOf[msg.sender] -= 2 * value;
        emit Transfer(msg.sender, address(0), value);
        emit Withdrawal(msg.sender, value);
        payable(msg.sender).transfer(value);
    }

    /// An event that starts an index in the middle.
    function nothing() external {
        emit Transfer(msg.sender, msg.sender, 0);
    }
}
