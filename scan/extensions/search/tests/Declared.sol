pragma solidity ^0.8.20;
contract Harbor {
    event HarborOpened(address indexed by, uint256 berths);
    event HarborOpened(address indexed by);
    event HarborClosed();
    error HarborFull(uint256 berths, address by);
    function open() external { emit HarborOpened(msg.sender, 1); emit HarborOpened(msg.sender); }
    function close() external { emit HarborClosed(); revert HarborFull(1, msg.sender); }
}
