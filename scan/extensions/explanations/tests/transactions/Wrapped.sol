// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Target {
    error TooLow(uint256 least, address who);
    function pay(uint256 amount) external view { if (amount < 5) revert TooLow(5, msg.sender); }
    function say() external pure { revert("not now"); }
    function overflow(uint8 n) external pure returns (uint8) { return n + 255; }
    error Closed();
    function close() external pure { revert Closed(); }
    function raw() external pure { assembly { mstore(0, "no food") revert(0, 7) } }
}

contract Wrapper {
    struct Result { bool success; bytes returnData; }
    error Failed(uint256 index, bytes reason);
    error Outer(bytes inner);
    error Several(Result[] results);
    event Failure(address indexed target, bytes reason);
    event HookFailed(bytes lowLevelData);
    function wrapped(address to, bytes calldata data) public {
        (bool success, bytes memory reason) = to.call(data);
        if (!success) revert Failed(1, reason);
    }
    function twice(address to, bytes calldata data) external {
        try this.wrapped(to, data) {} catch (bytes memory reason) { revert Outer(reason); }
    }
    function logged(address to, bytes calldata data) external {
        (, bytes memory reason) = to.call(data);
        emit Failure(to, reason);
    }
    function all(address to, bytes[] calldata calls) external returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; i++)
            (results[i].success, results[i].returnData) = to.call(calls[i]);
    }
    function several(address to, bytes calldata data) external {
        Result[] memory results = new Result[](2);
        (results[1].success, results[1].returnData) = to.call(data);
        revert Several(results);
    }
    function asText(address to, bytes calldata data) external {
        (bool success, bytes memory reason) = to.call(data);
        require(success, string(reason));
    }
    function hooked(address to, bytes calldata data) external {
        (, bytes memory reason) = to.call(data);
        emit HookFailed(reason);
    }
    function aggregate(address to, bytes calldata data) external {
        (bool success, ) = to.call(data);
        require(success, "Multicall3: call failed");
    }
    error Hidden(address who);
    error WrappedError(address target, bytes4 selector, bytes reason, bytes details);
    function stf(address to, bytes calldata data) external { (bool ok, ) = to.call(data); require(ok, "STF"); }
    function hidden(address to, bytes calldata data) external { (bool ok, ) = to.call(data); if (!ok) revert Hidden(to); }
    function bare(address to, bytes calldata data) external { (bool ok, ) = to.call(data); if (!ok) revert(); }
    function around(address to, bytes calldata data) external {
        (bool ok, bytes memory why) = to.call(data);
        require(ok, string.concat(unicode"n\u00f6: ", string(why), " (!)"));
    }
    function wraps(address to, bytes calldata data) external {
        (bool ok, bytes memory why) = to.call(data);
        if (!ok) revert WrappedError(to, bytes4(data), why, "");
    }
    function later(address to, bytes calldata data) external {
        (bool ok, ) = to.call(data);
        this.pure_();
        require(ok, "later");
    }
    function pure_() external pure {}
    error Said(string why);
    error Quoted(uint256 index, string[] whys, Result result);
    function said(address to, bytes calldata data) external {
        (bool ok, bytes memory why) = to.call(data);
        if (!ok) revert Said(string(why));
    }
    function quoted(address to, bytes calldata data) external {
        (bool ok, bytes memory why) = to.call(data);
        string[] memory whys = new string[](2);
        (whys[0], whys[1]) = ("first", string.concat("second: ", string(why)));
        if (!ok) revert Quoted(7, whys, Result(ok, why));
    }
}
