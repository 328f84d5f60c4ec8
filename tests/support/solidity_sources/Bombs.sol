// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Contracts that cost little gas, and much memory of whoever reads them without bounds.

abstract contract TransferEmitter {
    event Transfer(address indexed from, address indexed to, uint256 value);
}

/// Returns `length` bytes whatever it is asked for, and emits a Transfer when created.
contract HugeAnswer is TransferEmitter {
    constructor(uint256 length) {
        emit Transfer(address(0), msg.sender, 1);
        // PUSH4 length, PUSH0, RETURN
        bytes memory runtime = abi.encodePacked(hex"63", uint32(length), hex"5ff3");
        assembly {
            return(add(runtime, 32), mload(runtime))
        }
    }
}

contract Factory {
    function makeHugeAnswers(uint256 count, uint256 length) external {
        for (uint256 i = 0; i < count; i++) new HugeAnswer(length);
    }
}

/// Many calls in one transaction: a trace has a frame for each, with its input.
contract ManyCalls {
    address public last;

    /// The last of all creates a contract, which only the trace shows.
    function callItself(uint256 count, uint256 inputLength) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } {
                pop(staticcall(gas(), 4, 0, inputLength, 0, 0))
            }
        }
        last = address(new Empty());
    }

    /// Nested as deep as the gas lasts, or 1,024 calls.
    function nest(uint256 depth) external {
        if (depth > 0) try ManyCalls(address(this)).nest(depth - 1) {} catch {}
    }
}

contract Empty {}

/// Many logs, or large ones.
contract ManyLogs is TransferEmitter {
    function emitEmpty(uint256 count) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { log0(0, 0) }
        }
    }

    function emitData(uint256 count, uint256 length) external {
        assembly {
            for { let i := 0 } lt(i, count) { i := add(i, 1) } { log0(0, length) }
        }
    }

    function emitTransfers(uint256 count) external {
        for (uint256 i = 0; i < count; i++) emit Transfer(msg.sender, address(uint160(i + 1)), 0);
    }
}
