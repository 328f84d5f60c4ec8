"""Ways to compile a contract, and what is marked in a source: `// at: name, other`."""

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


def marked_lines(source):
    """The numbers of the lines by the names in their marks."""
    return {
        name: number
        for number, line in enumerate(source.split("\n"), 1)
        for name in line.partition("// at: ")[2].split(", ")
        if name
    }
