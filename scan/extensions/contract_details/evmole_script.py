"""Functions of bytecode, in hex on stdin, as JSON on stdout; inferred_functions.py runs this file
in the sandbox. With an argument only their selectors are read.
"""

import json
import sys

if __name__ == "__main__":
    from evmole import contract_info

    is_whole = not sys.argv[1:]
    code = sys.stdin.read()
    info = contract_info(code, selectors=True, arguments=is_whole, state_mutability=is_whole)
    functions = [(f.selector, f.arguments, f.state_mutability) for f in info.functions or ()]
    sys.stdout.write(json.dumps(functions))
