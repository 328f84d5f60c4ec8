// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// What an OP Stack chain has at 0x4200...0016, and anybody may have elsewhere.
contract MessagePasser {
    uint240 private passed;

    event MessagePassed(
        uint256 indexed nonce,
        address indexed sender,
        address indexed target,
        uint256 value,
        uint256 gasLimit,
        bytes data,
        bytes32 withdrawalHash
    );
    /// Nothing that L1 knows.
    event Passed(uint256 indexed nonce, address indexed sender, address indexed target);

    function initiateWithdrawal(address target, uint256 gasLimit, bytes calldata data)
        public
        payable
    {
        uint256 nonce = uint256(passed++) | (uint256(1) << 240);
        bytes32 hash = keccak256(abi.encode(nonce, msg.sender, target, msg.value, gasLimit, data));
        emit MessagePassed(nonce, msg.sender, target, msg.value, gasLimit, data, hash);
        emit Passed(nonce, msg.sender, target);
    }

    function initiateMany(address target, uint256 times) external {
        for (uint256 n = 0; n < times; n++) this.initiateWithdrawal(target, n, "");
    }
}
