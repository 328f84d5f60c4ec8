// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

type Price is uint64;

contract Kept {
    enum Step { None, Begun, Done }
    struct Packed { uint8 small; bool flag; address owner; int40 below; bytes4 mark; }
    struct Holder {
        uint128 amount; uint128 since; string note; mapping(address => uint256) shares;
    }

    uint256 public total;
    Packed public packed;
    Step public step;
    Price public price;
    Kept public other;
    int256 public negative;
    bytes32 public digest;
    uint24[5] public few;
    uint256[2][3] public grid;
    uint24[] public many;
    Packed[] public list;
    string public text;
    bytes public blob;
    mapping(address => uint256) public balances;
    mapping(address => mapping(address => uint256)) public allowances;
    mapping(uint256 => mapping(bytes32 => mapping(address => bool))) public deep;
    mapping(string => uint256) public byName;
    mapping(Step => uint256) public byStep;
    mapping(bytes4 => int64) public bySelector;
    mapping(uint256 => Holder) public holders;
    Holder[] internal offers;
    uint256[1000000000000] public huge;

    function set(address who, uint256 n) external {
        total = n;
        packed = Packed(7, true, who, -5, 0x01020304);
        step = Step.Done;
        price = Price.wrap(99);
        other = Kept(who);
        negative = -int256(n);
        digest = keccak256("digest");
        few = [uint24(1), 2, 3, 4, 5];
        grid[2][1] = n;
        many.push(11); many.push(12);
        list.push(Packed(1, false, who, -1, 0xaabbccdd));
        huge[999999999999] = n;
        balances[who] = n;
        allowances[msg.sender][who] = n + 1;
    }
    function nested(uint256 id, bytes32 name, address who) external { deep[id][name][who] = true; }
    function named(string calldata name, uint256 n) external {
        byName[name] = n;
        byStep[Step.Begun] = n;
    }
    function marked(bytes4 mark, int64 n) external { bySelector[mark] = n; }
    function hold(uint256 id, address who, uint128 amount, string calldata note) external {
        Holder storage holder = holders[id];
        holder.amount = amount;
        holder.note = note;
        holder.shares[who] = amount;
    }
    function offer(address who, uint128 amount, string calldata note) external {
        Holder storage one = offers.push();
        one.amount = amount;
        one.note = note;
        one.shares[who] = amount;
    }
    function write(string calldata given, bytes calldata more) external {
        text = given;
        blob = more;
    }
    function computed(uint256 n) external {
        byName[string(abi.encodePacked("no ", "argument"))] = n;
        balances[address(uint160(uint256(keccak256(abi.encode(n)))))] = n;
        allowances[address(uint160(n * 1e20))][address(uint160(n * 1e30))] = n;
    }
    function flip() external { packed.flag = !packed.flag; }
    function sharesOf(uint256 id, address who) external view returns (uint256) {
        return holders[id].shares[who];
    }
}
