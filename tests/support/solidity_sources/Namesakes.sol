// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// Makes a contract at an address that is known before, which may have got coin there.
contract AddressMaker {
    event Made(address at);

    function make(bytes memory code, uint256 salt) external {
        address at;
        assembly {
            at := create2(0, add(code, 32), mload(code), salt)
        }
        require(at != address(0));
        emit Made(at);
    }

    function at(bytes memory code, uint256 salt) external view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), this, salt, keccak256(code)));
        return address(uint160(uint256(hash)));
    }
}

/// An honest token that mints without a Transfer: at its beginning, and by issue().
contract Presold {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Issue(uint256 amount);

    constructor(string memory symbol_, uint256 amount) {
        (name, symbol, totalSupply) = (symbol_, symbol_, amount);
        balanceOf[msg.sender] = amount;
    }

    function issue(uint256 amount) external {
        balanceOf[msg.sender] += amount;
        totalSupply += amount;
        emit Issue(amount);
    }

    function transfer(address to, uint256 value) external {
        transferFrom(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) public {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    /// Mints as Compound's cTokens: from itself, which has nothing.
    function mint(uint256 amount) external {
        balanceOf[msg.sender] += amount;
        totalSupply += amount;
        emit Transfer(address(this), msg.sender, amount);
    }
}

/// A token all of whose units have events, as its constructor makes them.
contract Clean {
    string public name;
    string public symbol;
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(string memory symbol_, address[] memory holders) {
        (name, symbol) = (symbol_, symbol_);
        for (uint256 n = 0; n < holders.length; n++) {
            balanceOf[holders[n]] = 1 ether;
            totalSupply += 1 ether;
            emit Transfer(address(0), holders[n], 1 ether);
        }
    }
}

/// Units and items (ERC-404) without isApprovedForAll(), whose items have no owner until it opens.
contract LateItems {
    string public constant name = "Late";
    string public constant symbol = "LATE";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => address) private _owners;
    bool private _isOpen;

    function mint(address to, uint256 id) external {
        balanceOf[to] += 1 ether;
        totalSupply += 1 ether;
        _owners[id] = to;
        bytes32 topic = keccak256("Transfer(address,address,uint256)");
        assembly {
            mstore(0, 1000000000000000000)
            log3(0, 32, topic, 0, to)
            log4(0, 0, topic, 0, to, id)
        }
    }

    function open() external {
        _isOpen = true;
    }

    function ownerOf(uint256 id) external view returns (address) {
        require(_isOpen && _owners[id] != address(0));
        return _owners[id];
    }
}
