// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// Something small to be created; it emits nothing, so only a trace or a call shows it.
contract Vault {
    address public immutable owner;
    uint256 public opened;

    constructor(address owner_) payable {
        owner = owner_;
    }

    function open() external {
        opened++;
    }

    receive() external payable {}
}

/// Creates a contract in its own constructor: two creations in one transaction.
contract Nest {
    Vault public immutable vault;

    constructor() {
        vault = new Vault(msg.sender);
    }
}

/// Lives for one transaction only.
contract Mayfly {
    constructor() payable {
        selfdestruct(payable(tx.origin));
    }
}

contract Maker {
    event Made(address indexed vault);

    error NotToday(uint256 day);

    function make() external returns (address vault) {
        vault = address(new Vault(msg.sender));
        emit Made(vault);
    }

    function makeAt(bytes32 salt) external returns (address vault) {
        vault = address(new Vault{salt: salt}(msg.sender));
        emit Made(vault);
    }

    function makeFunded() external payable returns (address) {
        return address(new Vault{value: msg.value}(msg.sender));
    }

    function makeNest() external returns (address) {
        return address(new Nest());
    }

    function makeMayfly() external payable returns (address) {
        return address(new Mayfly{value: msg.value}());
    }

    function makeAndRevert() public {
        new Vault(msg.sender);
        revert NotToday(7);
    }

    /// The transaction succeeds, the creation inside it is undone.
    function makeInVain() external {
        try this.makeAndRevert() {} catch {}
    }
}

/// Fails in each of the ways a transaction can fail.
contract Failing {
    error Refused(address who, uint256 code);

    uint256 public count;

    function withReason() external pure {
        revert("no reason to go on");
    }

    function withCustomError() external view {
        revert Refused(msg.sender, 42);
    }

    function withPanic(uint256 divisor) external {
        count = 1 / divisor;
    }

    function withoutData() external pure {
        assembly {
            revert(0, 0)
        }
    }

    function withInvalidOpcode() external pure {
        assembly {
            invalid()
        }
    }

    function untilGasIsOut() external {
        while (true) count++;
    }
}

/// A constructor that reverts: a failed creation, with no contract behind its address.
contract Stillborn {
    constructor() {
        revert("stillborn");
    }
}
