// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

/// Refuses in every way that there is, itself or by a contract that it calls.
contract Guard {
    error NotAllowed(address who, uint256 code);
    error Closed();

    uint256[] public list;
    uint256 public count;

    function refuse(uint256 code) external view {
        revert NotAllowed(msg.sender, code);
    }

    function close() external pure {
        revert Closed();
    }

    function burn() external {
        while (true) count++;
    }

    function silent() external pure {
        revert();
    }

    function sink() external payable {}

    function hear(bytes calldata words) external pure returns (bytes calldata) {
        return words;
    }
}

library Checks {
    error Unchecked(string what, bytes32 mark);

    function fail(string memory what) internal pure {
        revert Unchecked(what, keccak256(bytes(what)));
    }
}

contract Reasons {
    error Refused(address who, uint256[] values, string why);
    error Empty();

    Guard public immutable guard;
    uint256[] public list;
    uint256 public count;

    constructor() {
        guard = new Guard();
    }

    function withRequire(bool ok) external pure {
        require(ok, "the door is shut");
    }

    function withoutReason() external pure {
        revert();
    }

    function ownError(uint256 value) external view {
        uint256[] memory values = new uint256[](2);
        values[1] = value;
        revert Refused(msg.sender, values, "as always");
    }

    function calleesError(uint256 code) external view {
        guard.refuse(code);
    }

    function caughtThenOther() external view {
        try guard.refuse(1) {} catch {
            revert Empty();
        }
    }

    function caughtThenSilent() external {
        try guard.close() {} catch {}
        count++;
        require(false);
    }

    function afterCaught() external view {
        try guard.close() {} catch {}
        guard.refuse(2);
    }

    function overflow(uint256 value) external pure returns (uint256) {
        return value + type(uint256).max;
    }

    function divide(uint256 by) external pure returns (uint256) {
        return 1 / by;
    }

    function insist(bool ok) external pure {
        assert(ok);
    }

    function item(uint256 index) external view returns (uint256) {
        return list[index];
    }

    function burn() external {
        while (true) count++;
    }

    function burnInside() external {
        guard.burn{gas: 30000}();
    }

    function silentInside() external view {
        guard.silent();
    }

    function invalid() external pure {
        assembly {
            invalid()
        }
    }

    function jump() external pure {
        assembly {
            mstore(0, 0)
            revert(0, 68)
        }
    }

    function missing() external {
        Reasons(address(guard)).withoutReason();
    }

    function overspend() external {
        guard.sink{value: 1 ether}();
    }

    function overspendLow() external {
        (bool ok,) = address(guard).call{value: 1 ether}("");
        require(ok, "could not pay");
    }

    function unknownData(bytes calldata words) external pure {
        bytes memory copied = words;
        assembly {
            revert(add(copied, 32), mload(copied))
        }
    }

    function writeWhileReading() external view {
        (bool ok, bytes memory returned) = address(this).staticcall(abi.encodeCall(this.increase, ()));
        assembly {
            if iszero(ok) { revert(add(returned, 32), mload(returned)) }
        }
    }

    function increase() external {
        count++;
    }

    function byLibrary(string calldata what) external pure {
        Checks.fail(what);
    }

    function recurse(uint256 depth) external {
        if (depth == 0) revert Empty();
        this.recurse(depth - 1);
    }

    function wide(uint256 calls) external {
        for (uint256 n = 0; n < calls; n++) guard.sink();
    }

    function large(uint256 size) external {
        guard.hear(new bytes(size));
    }

    event Said(uint256 indexed number, string words);

    function speak(uint256 number) external {
        emit Said(number, "before");
        guard.sink();
        emit Said(number, "after");
    }

    function fine(uint256 value) external returns (uint256 doubled) {
        count = value;
        list.push(value);
        return 2 * value;
    }
}

contract Unborn {
    error BadStart(uint256 number);

    constructor(uint256 number) {
        revert BadStart(number);
    }
}
