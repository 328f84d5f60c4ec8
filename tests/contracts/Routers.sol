// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Core {
    struct Pool { uint256 id; address owner; }
    event Created(uint256 indexed poolId, address owner);
    event Done(uint256 coreValue);
    error Unknown(uint256 poolId);
    function create(uint256 poolId) external { if (poolId == 0) revert Unknown(poolId); emit Created(poolId, msg.sender); emit Done(1); }
    function pool(uint256 poolId) external view returns (Pool memory p) { p = Pool(poolId, msg.sender); }
    function version() external pure returns (uint256) { return 1; }
}
contract Market {
    event Bought(uint256 marketId);
    event Done(uint256 marketValue);
    function buy(uint256 marketId) external payable { emit Bought(marketId); emit Done(2); }
    function price(uint256 marketId) external pure returns (int256 inDollars) { inDollars = -int256(marketId); }
    function version() external pure returns (string memory) { return "market's"; }
}

function forward(address implementation) {
    assembly {
        calldatacopy(0, 0, calldatasize())
        let result := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
        returndatacopy(0, 0, returndatasize())
        switch result case 0 { revert(0, returndatasize()) }
        default { return(0, returndatasize()) }
    }
}

// As Synthetix's are generated, with addresses in the code: a search by halves.
contract Searching {
    address immutable core; address immutable market;
    constructor(address core_, address market_) { core = core_; market = market_; }
    error UnknownSelector(bytes4 sel);
    fallback() external payable {
        bytes4 sig4 = msg.sig; address a = core; address b = market; address implementation;
        assembly {
            function find(sig, one, other) -> result {
                if lt(sig, 0x780900dc) {
                    switch sig
                    case 0x26a49e37 { result := other } // price(uint256)
                    case 0x54fd4d50 { result := one } // version()
                    leave
                }
                switch sig
                case 0x780900dc { result := one } // create(uint256)
                case 0xd96a094a { result := other } // buy(uint256)
                case 0xfe313112 { result := one } // pool(uint256)
                leave
            }
            implementation := find(shr(224, sig4), a, b)
        }
        if (implementation == address(0)) revert UnknownSelector(sig4);
        forward(implementation);
    }
}

// With functions of its own before those of its default modules.
contract Modular {
    address immutable core; address immutable market; address public owner = msg.sender;
    constructor(address core_, address market_) { core = core_; market = market_; }
    function setOwner(address owner_) external { require(msg.sender == owner); owner = owner_; }
    fallback() external payable {
        address implementation;
        if (msg.sig == Core.create.selector || msg.sig == Core.pool.selector) implementation = core;
        else if (msg.sig == Market.buy.selector || msg.sig == Market.price.selector) implementation = market;
        else if (msg.sig == Core.version.selector) implementation = core;
        else revert("no module");
        forward(implementation);
    }
}

// As Paraswap's, which does not list them.
contract Mapped {
    mapping(bytes4 => address) modules;
    constructor(address core_, address market_) {
        modules[Core.create.selector] = modules[Core.pool.selector] = core_;
        modules[Core.version.selector] = core_;
        modules[Market.buy.selector] = modules[Market.price.selector] = market_;
    }
    function getImplementation(bytes4 functionSelector) public view returns (address) { return modules[functionSelector]; }
    fallback() external payable {
        address implementation = getImplementation(msg.sig);
        require(implementation != address(0));
        (bool done, bytes memory result) = implementation.delegatecall(msg.data);
        if (!done) assembly { revert(add(result, 32), mload(result)) }
        assembly { return(add(result, 32), mload(result)) }
    }
}
