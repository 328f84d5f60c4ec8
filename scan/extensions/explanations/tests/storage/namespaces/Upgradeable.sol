// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import {Owned} from "./access/Owned.sol";
library Counting {
    /// @notice Counts.
    /// @custom:storage-location erc7201:example.storage.Counting
    struct Counter { uint128 low; uint128 high; }
    function counter() internal pure returns (Counter storage $) {
        bytes32 location = keccak256(
            abi.encode(uint256(keccak256("example.storage.Counting")) - 1)
        ) & ~bytes32(uint256(0xff));
        assembly { $.slot := location }
    }
}
contract Token is Owned {
    enum Phase { Draft, Open, Closed }
    /// @custom:storage-location erc7201:example.storage.Token
    struct TokenStorage {
        mapping(address => uint256) balances;
        Phase phase;
        string name;
        uint24[] many;
        Nested nested;
    }
    struct Nested { Phase before; uint8 count; }
    Phase public plain;
    mapping(Phase => Phase) public following;
    function token() internal pure returns (TokenStorage storage $) {
        bytes32 location = keccak256(
            abi.encode(uint256(keccak256("example.storage.Token")) - 1)
        ) & ~bytes32(uint256(0xff));
        assembly { $.slot := location }
    }
    function set(address who, uint256 n) external {
        TokenStorage storage $ = token();
        $.balances[who] = n;
        $.phase = Phase.Closed;
        $.name = "a name";
        $.many.push(5);
        $.nested = Nested(Phase.Open, 3);
        plain = Phase.Open;
        following[Phase.Open] = Phase.Closed;
        Counting.counter().high = 9;
    }
    function corrupt() external { assembly { sstore(plain.slot, 7) } }
}
