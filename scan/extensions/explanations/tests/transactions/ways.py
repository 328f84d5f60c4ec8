"""Ways to compile a contract."""

OPTIMIZED = {"enabled": True, "runs": 200}
WAYS = {
    "plain": {"optimizer": {"enabled": False}},
    "optimized": {"optimizer": OPTIMIZED},
    "IR optimized": {"optimizer": OPTIMIZED, "viaIR": True},
}
