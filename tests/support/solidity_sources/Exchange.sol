// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

interface Token {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address who) external view returns (uint256);
}

interface PairV2 {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getReserves() external view returns (uint112, uint112, uint32);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
    function mint(address to) external returns (uint256);
    function burn(address to) external returns (uint256, uint256);
}

interface PoolV3 {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address to, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        returns (uint256, uint256);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

/// Trades with the core contracts of Uniswap for whoever has approved it.
contract Router {
    function addLiquidityV2(PairV2 pair, uint256 amount0, uint256 amount1) external {
        Token(pair.token0()).transferFrom(msg.sender, address(pair), amount0);
        Token(pair.token1()).transferFrom(msg.sender, address(pair), amount1);
        pair.mint(msg.sender);
    }

    function swapV2(PairV2 pair, bool zeroForOne, uint256 amountIn, address to) public {
        (uint256 reserveIn, uint256 reserveOut) = _reserves(pair, zeroForOne);
        Token tokenIn = Token(zeroForOne ? pair.token0() : pair.token1());
        tokenIn.transferFrom(msg.sender, address(pair), amountIn);
        uint256 withFee = amountIn * 997;
        uint256 amountOut = (withFee * reserveOut) / (reserveIn * 1000 + withFee);
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, 0);
        pair.swap(out0, out1, to, "");
    }

    /// There and back in one transaction: two trades, and two transfers of each token.
    function roundTripV2(PairV2 pair, uint256 amountIn) external {
        Token token1 = Token(pair.token1());
        uint256 before = token1.balanceOf(msg.sender);
        swapV2(pair, true, amountIn, msg.sender);
        swapV2(pair, false, token1.balanceOf(msg.sender) - before, msg.sender);
    }

    /// Both tokens go in and some of the first comes back, as a flash swap looks in its event.
    function swapV2BothIn(PairV2 pair, uint256 in0, uint256 in1, uint256 out1) external {
        Token(pair.token0()).transferFrom(msg.sender, address(pair), in0);
        Token(pair.token1()).transferFrom(msg.sender, address(pair), in1);
        pair.swap(0, out1, msg.sender, "");
    }

    function addLiquidityV3(PoolV3 pool, int24 lower, int24 upper, uint128 amount) external {
        pool.mint(msg.sender, lower, upper, amount, abi.encode(msg.sender));
    }

    function swapV3(PoolV3 pool, bool zeroForOne, int256 amount) external {
        uint160 limit = zeroForOne
            ? 4295128740
            : 1461446703485210103287273052203988822378723970341;
        pool.swap(msg.sender, zeroForOne, amount, limit, abi.encode(msg.sender));
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        _pay(int256(owed0), int256(owed1), abi.decode(data, (address)));
    }

    function uniswapV3SwapCallback(int256 owed0, int256 owed1, bytes calldata data) external {
        _pay(owed0, owed1, abi.decode(data, (address)));
    }

    function _pay(int256 owed0, int256 owed1, address payer) private {
        PoolV3 pool = PoolV3(msg.sender);
        if (owed0 > 0) Token(pool.token0()).transferFrom(payer, msg.sender, uint256(owed0));
        if (owed1 > 0) Token(pool.token1()).transferFrom(payer, msg.sender, uint256(owed1));
    }

    function _reserves(PairV2 pair, bool zeroForOne) private view returns (uint256, uint256) {
        (uint256 reserve0, uint256 reserve1, ) = pair.getReserves();
        return zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
    }
}

/// As PancakeSwap V3: swaps at a fixed price, whose event has two fields more than Uniswap's.
contract PancakePool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    uint24 public immutable fee;

    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick,
        uint128 protocolFeesToken0,
        uint128 protocolFeesToken1
    );

    constructor(address factory_, address token0_, address token1_, uint24 fee_) {
        factory = factory_;
        token0 = token0_;
        token1 = token1_;
        fee = fee_;
    }

    function swap(bool zeroForOne, uint256 amountIn) external {
        uint256 amountOut = (amountIn * (1_000_000 - fee)) / 1_000_000;
        (address tokenIn, address tokenOut) = zeroForOne ? (token0, token1) : (token1, token0);
        Token(tokenIn).transferFrom(msg.sender, address(this), amountIn);
        Token(tokenOut).transfer(msg.sender, amountOut);
        (int256 amount0, int256 amount1) = zeroForOne
            ? (int256(amountIn), -int256(amountOut))
            : (-int256(amountOut), int256(amountIn));
        emit Swap(msg.sender, msg.sender, amount0, amount1, 2 ** 96, 1, 0, 3, 4);
    }
}

contract PancakeFactory {
    mapping(address => mapping(address => mapping(uint24 => address))) public getPool;

    function createPool(address tokenA, address tokenB, uint24 fee) external returns (address pool) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        pool = address(new PancakePool(address(this), token0, token1, fee));
        getPool[token0][token1][fee] = pool;
        getPool[token1][token0][fee] = pool;
    }
}

/// Emits what a pool emits; which of a pool's questions it answers is set when it is made.
contract FakePool {
    address private immutable _factory;
    address private immutable _token0;
    address private immutable _token1;

    event Swap(
        address indexed sender,
        uint256 amount0In,
        uint256 amount1In,
        uint256 amount0Out,
        uint256 amount1Out,
        address indexed to
    );
    event Swap(
        address indexed sender,
        address indexed recipient,
        int256 amount0,
        int256 amount1,
        uint160 sqrtPriceX96,
        uint128 liquidity,
        int24 tick
    );

    constructor(address factory_, address token0_, address token1_) {
        _factory = factory_;
        _token0 = token0_;
        _token1 = token1_;
    }

    function factory() external view returns (address) {
        return _given(_factory);
    }

    function token0() external view returns (address) {
        return _given(_token0);
    }

    function token1() external view returns (address) {
        return _given(_token1);
    }

    function swapV2(uint256 in0, uint256 in1, uint256 out0, uint256 out1) external {
        emit Swap(msg.sender, in0, in1, out0, out1, msg.sender);
    }

    function swapV3(int256 amount0, int256 amount1) external {
        emit Swap(msg.sender, msg.sender, amount0, amount1, 2 ** 96, 1, 0);
    }

    function _given(address answer) private pure returns (address) {
        require(answer != address(0));
        return answer;
    }
}
