// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

/// Emits the logs that its call data lists: of each the number of topics, the size of its data in
/// four bytes, topics and data.
contract LogEmitter {
    fallback() external {
        assembly {
            let place := 0
            for {} lt(place, calldatasize()) {} {
                let topics := byte(0, calldataload(place))
                let size := shr(224, calldataload(add(place, 1)))
                let first := add(place, 5)
                let start := add(first, mul(32, topics))
                calldatacopy(0, start, size)
                let one := calldataload(first)
                let two := calldataload(add(first, 32))
                let three := calldataload(add(first, 64))
                let four := calldataload(add(first, 96))
                switch topics
                case 0 { log0(0, size) }
                case 1 { log1(0, size, one) }
                case 2 { log2(0, size, one, two) }
                case 3 { log3(0, size, one, two, three) }
                default { log4(0, size, one, two, three, four) }
                place := add(start, size)
            }
        }
    }
}
