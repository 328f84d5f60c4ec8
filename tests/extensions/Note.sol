
contract Note {
    event LogNote(bytes4 indexed sig, address indexed guy, bytes32 indexed foo,
        bytes32 indexed bar, uint wad, bytes fax) anonymous;
    event Both(bytes first, uint256 number, bytes second) anonymous;
    modifier note {
        bytes32 foo; bytes32 bar;
        assembly { foo := calldataload(4) bar := calldataload(36) }
        EMIT LogNote(msg.sig, msg.sender, foo, bar, msg.value, msg.data);
        _;
    }
    function poke(uint256 a, uint256 b) public payable note { }
    function both(bytes memory_ x) public { EMIT Both(msg.data, 7, x); EMIT Both(x, 8, msg.data); }
}
