pragma solidity ^0.8.20;
contract P {
    address immutable implementation; bool paused; address self = address(this);
    constructor(address to) { implementation = to; }
    fallback(bytes calldata input) external payable returns (bytes memory) {
        require(!paused && self == address(this) && gasleft() > 5000 && block.timestamp > 1000);
        (bool done, bytes memory data) = implementation.delegatecall(input);
        if (!done) { assembly { revert(add(data, 32), mload(data)) } }
        return data;
    }
}
