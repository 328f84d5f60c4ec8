"""The process that normalises names: a line of JSON in, a line of JSON out.

A text is answered by {"name": …}, or by {"reason": …} where it is no name (ENSIP-15). It ends with
its input, or where nothing comes for IDLE_S seconds.
"""

import json
import resource
import signal
import sys

IDLE_S = 300
MEMORY_BYTES = 512 * 1024 * 1024
CPU_S = 600  # of all names together; a name takes a millisecond
MAX_LINE = 8192


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import ens_normalize

    signal.alarm(IDLE_S)
    while line := sys.stdin.readline(MAX_LINE):
        try:
            answer = {"name": ens_normalize.ens_normalize(json.loads(line))}
        except ens_normalize.DisallowedSequence as error:
            reason = error.general_info
            answer = {"reason": f"it {reason[:1].lower()}{reason[1:]}"}
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()
        signal.alarm(IDLE_S)


if __name__ == "__main__":
    main()
