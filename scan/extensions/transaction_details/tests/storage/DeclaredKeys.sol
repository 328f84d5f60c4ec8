// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
type Mark is bytes4;
type Count is uint64;
type Depth is int16;
type int7 is bytes4;
contract Declared {
    mapping(Mark => uint256) public byMark;
    mapping(Count => uint256) public byCount;
    mapping(Depth => uint256) public byDepth;
    mapping(int7 => uint256) public byOddName;
    mapping(Mark => mapping(Depth => uint256)) public both;
    function set(bytes4 mark, uint64 count, int16 depth) external {
        byMark[Mark.wrap(mark)] = 1;
        byCount[Count.wrap(count)] = 2;
        byDepth[Depth.wrap(depth)] = 3;
        byOddName[int7.wrap(mark)] = 4;
        both[Mark.wrap(mark)][Depth.wrap(depth)] = 5;
    }
}
