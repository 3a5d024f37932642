"""Writes the Cython code that depends on the type profile: ``generate.py --profile NAME --output FILE --kernels FILE``.

Called by the build with the option ``type_profile``. The scalar kernels of kernel_table.py are rendered for every
profile; selection by profile comes with the typed array kernels.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import hot_table
from kernel_table import C_TYPES, kernels

HEADER = "# Written by generate.py; do not edit.\n"


def render(profile: str) -> str:
    """The text of ``generated.pxi`` for one profile name."""
    return f'{HEADER}cdef str GENERATED_TYPE_PROFILE = "{profile}"\n'


def render_kernels() -> str:
    """The text of ``scalar_kernels.pxi``: one function a kernel, and the table that finds them."""
    functions, rows = [], []
    for op, inputs, output, expression in kernels():
        name = f"k_{op}_{'_'.join(inputs)}_{output}"
        lines = [f"cdef void {name}(char* out, const char* p, const char* q, const char* r) noexcept nogil:"]
        for letter, pointer, dtype in zip("abc", "pqr", inputs, strict=False):
            lines.append(f"    cdef {C_TYPES[dtype]} {letter} = (<const {C_TYPES[dtype]}*>{pointer})[0]")
        lines.append(f"    (<{C_TYPES[output]}*>out)[0] = <{C_TYPES[output]}>({expression})")
        functions.append("\n".join(lines))
        rows.append(f"    ({op!r}, {inputs!r}, {output!r}): <size_t>&{name},")
    table = "cdef dict SCALAR_KERNELS = {\n" + "\n".join(rows) + "\n}\n"
    return HEADER + "\n\n".join(functions) + "\n\n" + table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", required=True, help="name of the type profile")
    parser.add_argument("--output", required=True, type=Path, help="the .pxi with the build's facts to write")
    parser.add_argument("--kernels", required=True, type=Path, help="the .pxi with the kernels to write")
    parser.add_argument("--hot", required=True, type=Path, help="the .inc with the ops of hot loops to write")
    arguments = parser.parse_args()
    if not arguments.profile.replace("_", "").isalnum():
        parser.error(f"type_profile must be letters, digits and underscores, got {arguments.profile!r}")
    arguments.output.write_text(render(arguments.profile), encoding="utf-8")
    arguments.kernels.write_text(render_kernels(), encoding="utf-8")
    arguments.hot.write_text("/* Written by generate.py; do not edit. */\n" + hot_table.render(), encoding="utf-8")


if __name__ == "__main__":
    main()
