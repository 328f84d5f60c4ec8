// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

// Who spends what was approved, and tokens that lie about it.

contract Taker {
    /// Of an ERC-20 an amount, of an ERC-721 an id, or what Permit2 has for it.
    function take(address token, address from, address to, uint256 value) external {
        (bool ok,) = token.call(
            abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, value)
        );
        require(ok);
    }

    function takeByPermit2(address permit2, address token, address from, address to, uint160 value)
        external
    {
        PermittedTransfers(permit2).transferFrom(from, to, value, token);
    }
}

/// What Permit2 does with allowances; permits here need no signature.
contract PermittedTransfers {
    struct Allowance {
        uint160 amount;
        uint48 expiration;
        uint48 nonce;
    }

    struct Pair {
        address token;
        address spender;
    }

    mapping(address => mapping(address => mapping(address => Allowance))) public allowance;

    event Approval(
        address indexed owner, address indexed token, address indexed spender, uint160 amount, uint48 expiration
    );
    event Permit(
        address indexed owner,
        address indexed token,
        address indexed spender,
        uint160 amount,
        uint48 expiration,
        uint48 nonce
    );
    event Lockdown(address indexed owner, address token, address spender);

    function approve(address token, address spender, uint160 amount, uint48 expiration) external {
        Allowance storage a = allowance[msg.sender][token][spender];
        a.amount = amount;
        a.expiration = expiration == 0 ? uint48(block.timestamp) : expiration;
        emit Approval(msg.sender, token, spender, amount, expiration);
    }

    function permit(address owner, address token, address spender, uint160 amount, uint48 expiration) external {
        Allowance storage a = allowance[owner][token][spender];
        (a.amount, a.expiration) = (amount, expiration);
        emit Permit(owner, token, spender, amount, expiration, a.nonce++);
    }

    function lockdown(Pair[] calldata pairs) external {
        for (uint256 i = 0; i < pairs.length; i++) {
            allowance[msg.sender][pairs[i].token][pairs[i].spender].amount = 0;
            emit Lockdown(msg.sender, pairs[i].token, pairs[i].spender);
        }
    }

    function transferFrom(address from, address to, uint160 amount, address token) external {
        Allowance storage a = allowance[from][token][msg.sender];
        require(block.timestamp <= a.expiration);
        if (a.amount != type(uint160).max) a.amount -= amount;
        (bool ok,) = token.call(
            abi.encodeWithSignature("transferFrom(address,address,uint256)", from, to, amount)
        );
        require(ok);
    }
}

/// Announces approvals of anybody, and answers as it was told: garbage, too much, nothing, or never.
contract Boaster {
    uint256 private immutable _answer;

    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(uint256 answer) {
        _answer = answer;
    }

    function boast(address owner, uint256 first, uint256 count) external {
        for (uint256 i = 0; i < count; i++) emit Approval(owner, address(uint160(first + i)), 1 + i);
    }

    fallback() external {
        uint256 answer = _answer;
        assembly {
            if eq(answer, 0) { return(0, 7) }
            if eq(answer, 1) { return(0, 300000) }
            if eq(answer, 2) { revert(0, 0) }
            for {} 1 {} {}
        }
    }
}
