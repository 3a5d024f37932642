"""The process in which jaxlib first reads a program: ``python -I -S reader_process.py BYTES SECONDS PATH...``.

jaxlib's parsers end their process on some malformed programs: on names in errors that are not UTF-8, on very deeply
nested types, on an index beyond its table. This process parses the bytes of standard input, prints the program and
writes it as bytecode, which it parses once more; if all succeeds, it writes the bytecode to standard output. Errors go
to standard error, with exit status 3.

It is run by its path and imports neither the workbench nor JAX, which would take longer than the reading. Its stack is
a quarter of the usual size, so that a program read here can be read in any thread of the other process.
"""

import importlib
import io
import re
import resource
import sys

REFUSED = 3
#: maximum nesting depth of regions, and of brackets in a text
MAX_DEPTH = 200
#: a string as MLIR prints it, and an escaped character in it
STRING, ESCAPE = re.compile(rb'"(?:[^"\\\n]|\\.)*"'), re.compile(rb"\\([0-9A-F]{2})")
STACK = 2 << 20
#: dialects that JAX adds to those of MLIR, and the functions that add them
DIALECTS = {
    "sdy": "register_dialect",
    "mpmd": "register_dialect",
    "mhlo": "register_mhlo_dialect",
    "chlo": "register_dialect",
    "stablehlo": "register_dialect",
}


def limited(memory: int, seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_STACK, STACK),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def context(ir):
    """A context as JAX creates it, with only the dialects that JAX uses."""

    class Bare(ir.Context):  # type: ignore[name-defined]
        def __init__(self):
            super(ir.Context, self).__init__()

    registry, made = ir.DialectRegistry(), Bare()
    importlib.import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    made.append_dialect_registry(registry)
    made.load_all_available_dialects()
    for name, register in DIALECTS.items():
        try:
            module = importlib.import_module(f"jaxlib.mlir.dialects.{name}")
        except ImportError:  # missing in some versions
            continue
        getattr(module, register)(made)
    return made


def parsed(ir, data, known):
    if not data.startswith(b"ML\xefR"):
        return ir.Module.parse(data.decode("utf-8"), known)
    if b"StableHLO_v" in data[:64]:
        return importlib.import_module("jaxlib.mlir.dialects.stablehlo").deserialize_portable_artifact(known, data)
    return ir.Module.parse(data, known)


def check_strings(text):
    """Checks that all strings are UTF-8, because jaxlib converts them to Python strings, also in its error messages."""
    for raw in STRING.findall(text):
        try:
            ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), raw.replace(b"\\\\", b"")).decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(
                f"it has a name or text that is not UTF-8, {raw[:80].decode('ascii', 'replace')}"
            ) from None


def written(ir, module, known):
    """Bytecode of a module, after it was walked, printed and parsed again."""
    waiting = [(module.operation, 0)]
    while waiting:
        operation, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"its regions are nested more than {MAX_DEPTH} deep")
        inside = (o.operation for region in operation.regions for block in region.blocks for o in block.operations)
        waiting += [(o, depth + 1) for o in inside]
    limits = {"large_elements_limit": 16, "large_resource_limit": 16}
    check_strings(module.operation.get_asm(**limits, binary=True, enable_debug_info=True))
    made = io.BytesIO()
    module.operation.write_bytecode(made)
    ir.Module.parse(made.getvalue(), known)
    return made.getvalue()


def main() -> int:
    memory, seconds = int(sys.argv[1]), int(sys.argv[2])
    sys.path[:0] = sys.argv[3:]
    limited(memory, seconds)
    ir = importlib.import_module("jaxlib.mlir.ir")
    known = context(ir)
    try:
        made = written(ir, parsed(ir, sys.stdin.buffer.read(), known), known)
    except Exception as error:  # jaxlib's error class, ValueError, MemoryError
        sys.stderr.write(f"{str(error) or type(error).__name__}\n")
        return REFUSED
    sys.stdout.buffer.write(made)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)
