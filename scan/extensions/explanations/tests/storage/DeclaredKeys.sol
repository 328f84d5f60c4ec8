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
    type Switch is bool;
    enum State { Idle, Busy, Gone }
    mapping(State => uint256) public byState;
    mapping(Switch => mapping(State => uint256)) public bySwitch;
    Mark public mark = Mark.wrap(0x01020304);
    Count public count = Count.wrap(7);
    Depth[2] public depths = [Depth.wrap(-5), Depth.wrap(6)];
    int7 public oddName = int7.wrap(0x05060708);
    Switch public switched = Switch.wrap(true);
    mapping(uint256 => Depth) public depthOf;
    function set(bytes4 mark, uint64 count, int16 depth) external {
        byMark[Mark.wrap(mark)] = 1;
        byCount[Count.wrap(count)] = 2;
        byDepth[Depth.wrap(depth)] = 3;
        byOddName[int7.wrap(mark)] = 4;
        byState[State.Busy] = 6;
        bySwitch[Switch.wrap(true)][State.Gone] = 7;
        depthOf[5] = Depth.wrap(depth);
        both[Mark.wrap(mark)][Depth.wrap(depth)] = 5;
    }
}
