pragma solidity >=0.4.22;

contract Counter {
    uint256 public count;
    address public owner = msg.sender;

    modifier onlyOwner() {
        require(msg.sender == owner);
        _;
    }

    function add(uint256 more) public onlyOwner {
        require(more > 0);
        count += more;
    }
}
