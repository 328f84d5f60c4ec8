// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// Pays for whatever it is asked to: validatePaymasterUserOp() of every entry point has its answer.
contract Sponsor {
    fallback() external payable {
        assembly {
            mstore(0, 0x40)
            mstore(0x20, 0)
            mstore(0x40, 0)
            return(0, 0x60)
        }
    }
}

/// Hands bundles to an entry point, several in one transaction, and goes on where one is refused.
contract InnerBundler {
    function forward(address to, bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success,) = to.call(calls[i]);
            success;
        }
    }

    receive() external payable {}
}

/// What operations call.
contract Errand {
    event Done(address indexed account, uint256 value);

    function run(uint256 value) external payable {
        emit Done(msg.sender, value);
    }

    function fail() external pure {
        revert("not today");
    }
}

/// Emits what entry points do.
contract Forger {
    event UserOperationEvent(
        bytes32 indexed userOpHash,
        address indexed sender,
        address indexed paymaster,
        uint256 nonce,
        bool success,
        uint256 actualGasCost,
        uint256 actualGasUsed
    );

    function forge(bytes32 userOpHash, address sender) external {
        emit UserOperationEvent(userOpHash, sender, address(this), 1, true, 2, 3);
    }
}
