"""Ways to compile a contract."""

OPTIMIZED = {"enabled": True, "runs": 200}
MANY_RUNS = {"enabled": True, "runs": 1_000_000}
STEPS = "dhfoDgvulfnTUtnIfxa[r]EscLMVcul[j]"
CUSTOM = {"yul": True, "inliner": True, "yulDetails": {"optimizerSteps": f"{STEPS}:fDnTOc"}}
WAYS = {
    "plain": {"optimizer": {"enabled": False}},
    "optimized": {"optimizer": OPTIMIZED},
    "small": {"optimizer": {"enabled": True, "runs": 1}},
    "many runs": {"optimizer": MANY_RUNS},
    "IR": {"optimizer": {"enabled": False}, "viaIR": True},
    "IR optimized": {"optimizer": OPTIMIZED, "viaIR": True},
    "IR many runs": {"optimizer": MANY_RUNS, "viaIR": True},
    "IR by steps": {"optimizer": OPTIMIZED | {"details": CUSTOM}, "viaIR": True},
}
