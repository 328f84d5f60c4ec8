"""What nodes and providers say of failures that pass, by their codes."""

# What they answer where they fail themselves.
FAILURES = [
    (-32000, "context deadline exceeded"),  # Geth
    (-32000, "execution aborted (timeout = 5s)"),
    (-32000, "header not found"),
    (-32000, "missing trie node 5e9c (path ) state 0x5e9c is not available"),
    (-32003, "response too large"),
    (-32000, "method handler crashed"),  # Erigon
    (-32000, "rpc error: code = Canceled desc = context canceled"),
    (-32016, "eth_call request was canceled due to enabled timeout."),  # Nethermind
    (-32002, "No state available for block 0x5e9c"),
    (-32603, "Internal error"),  # Besu
    (-32603, "internal blocking task error"),  # Reth
    (-32001, "block not found: hash 0x0xef9c"),
    (-32603, "EVM error; database error: failed to get account for 0xef: HTTP error 429"),  # Anvil
    (-32603, "EVM error: operation timed out"),
    (-32603, "EVM error; error sending request: connection closed before message completed"),
    (-32000, "intrinsic gas too high -- CallerGasLimitMoreThanBlock"),  # other blocks have more
    (-32005, "daily request count exceeded, request rate limited"),
    (429, "Your app has exceeded its compute units per second capacity."),  # Alchemy
    (-32012, "credits limited to 6000/sec"),  # QuickNode
    (30, "Request timeout on the free plan, please upgrade to paid plan"),  # dRPC
    (-32000, "we can't execute this request"),  # Ankr
    (-32601, "the method eth_call does not exist/is not available"),
    (-32602, "Invalid params"),
    (0, ""),
]
