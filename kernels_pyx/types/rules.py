"""THE rule table: which combinations of types are worth a compiled kernel. The first rule that fires decides.

``decide(family, inputs, output)`` asks it. The kernels, the dispatch, the reports, the documentation and the type
matrix all come from here. Order: what a family cannot mean; the patterns that the design names (``ADR``); what the
design forbids; NumPy's promotion where the design is silent; and a last word that rejects the rest.

Every rule carries an accepted and a rejected example. One of the two is decided by the rule itself, the other is its
near miss, decided by another rule. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from workbench.kernels.types.dtypes import DType, common, dtype, float_of, sum_of

#: family -> (operands of its usual op, what it computes)
FAMILIES: dict[str, tuple[int, str]] = {
    "arithmetic": (2, "x op y, and chains of three"),
    "division": (2, "true division x / y"),
    "comparison": (2, "x op y -> bool"),
    "logical": (2, "truth of x and y -> bool"),
    "bitwise": (2, "bits of x and y"),
    "indexing": (2, "data x, index y -> items of x"),
    "accumulation": (2, "dot and matmul of x and y"),
    "select": (3, "condition c, branches x and y"),
    "cast": (1, "x as another type"),
    "unary": (1, "f(x), element by element"),
    "reduction": (1, "all items of x -> one"),
    "index_reduction": (1, "position of an item of x"),
    "cumulative": (1, "running result over x"),
}
#: families that compute numbers from numbers; the design's prohibitions speak of them
VALUES = ("arithmetic", "division", "accumulation", "unary", "reduction", "cumulative")


@dataclass(frozen=True, slots=True)
class Case:
    """One combination under judgement."""

    family: str
    inputs: tuple[DType, ...]
    output: DType

    @property
    def operands(self) -> tuple[DType, ...]:
        """The inputs that carry data: without the condition of a select and the index of an indexing."""
        if self.family == "select":
            return self.inputs[1:]
        return self.inputs[:1] if self.family == "indexing" else self.inputs

    @property
    def matching(self) -> bool:
        """All operands have one type."""
        return len(set(self.operands)) == 1

    @property
    def key(self) -> tuple[tuple[str, ...], str]:
        return tuple(t.name for t in self.inputs), self.output.name


Example = tuple[str, tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table. ``source`` is ADR (the design), NumPy (a completion) or family (what it can mean)."""

    name: str
    accepts: bool
    source: str
    families: tuple[str, ...]
    sentence: str
    fires: Callable[[Case], bool]
    accepted: Example
    rejected: Example


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a combination: admitted or not, the rule, and that rule's sentence."""

    accepted: bool
    rule: str
    sentence: str


def _is(inputs: tuple[str, ...], output: str) -> Callable[[Case], bool]:
    """One exact pattern; a single operand (cast, reduction) stands for a pair of that type."""

    def fires(case: Case) -> bool:
        names, result = case.key
        return result == output and (names == inputs or (len(names) == 1 and names[0] == inputs[0]))

    return fires


def _mixes_strings(case: Case) -> bool:
    answers = ("comparison", "logical", "index_reduction")
    kinds = {t.kind for t in case.operands} | (set() if case.family in answers else {case.output.kind})
    return "s" in kinds and len(kinds) > 1


def _small(t: DType) -> bool:
    return t.kind != "b" and 0 < t.part <= 2


def _loses_precision(case: Case) -> bool:
    parts = [t.part for t in case.inputs if t.inexact]
    return bool(parts) and case.output.inexact and case.output.part < max(parts)


def _jumps(case: Case) -> bool:
    return (
        case.output.whole
        and all(t.whole for t in case.inputs)
        and (case.output.size >= 4 * max(t.size for t in case.inputs))
    )


def _promoted(case: Case) -> bool:
    return not case.matching and common(case.inputs) == case.output


def _kinds(case: Case) -> set[str]:
    return {t.kind for t in case.inputs}


def _whole_operands(case: Case) -> bool:
    return all(t.kind in "biu" for t in case.inputs)


A, N, F = "ADR", "NumPy", "family"
NUMBERS = ("arithmetic", "division")
WHOLE = ("arithmetic", "bitwise")
ACCUMULATING = ("arithmetic", "accumulation", "reduction")


def _rule(
    name: str,
    accepts: bool,
    source: str,
    families: str | tuple[str, ...],
    sentence: str,
    fires: Callable[[Case], bool],
    accepted: Example,
    rejected: Example,
) -> Rule:
    named = tuple(families.split()) if isinstance(families, str) else families
    return Rule(name, accepts, source, named, sentence, fires, accepted, rejected)


RULES: tuple[Rule, ...] = (
    # --- what a family cannot mean -------------------------------------------------------------------------------
    _rule(
        "string-with-number",
        False,
        A,
        tuple(f for f in FAMILIES if f != "index_reduction"),
        "Strings and numbers never meet in one operation.",
        _mixes_strings,
        ("comparison", ("string", "string"), "bool"),
        ("arithmetic", ("string", "float32"), "float64"),
    ),
    _rule(
        "bits-of-integers",
        False,
        F,
        "bitwise",
        "Only bools and integers have bits to work on.",
        lambda c: any(t.kind not in "biu" for t in (*c.inputs, c.output)),
        ("bitwise", ("int32", "int32"), "int32"),
        ("bitwise", ("float32", "float32"), "float32"),
    ),
    _rule(
        "condition-is-bool",
        False,
        F,
        "select",
        "The condition of a select is bool; compare first.",
        lambda c: c.inputs[0].kind != "b",
        ("select", ("bool", "int32", "int32"), "int32"),
        ("select", ("int32", "int32", "int32"), "int32"),
    ),
    _rule(
        "answer-is-bool",
        False,
        F,
        "comparison logical",
        "Comparisons and logic answer in bool.",
        lambda c: c.output.kind != "b",
        ("comparison", ("int32", "int32"), "bool"),
        ("comparison", ("int32", "int32"), "int32"),
    ),
    _rule(
        "quotient-is-inexact",
        False,
        F,
        "division",
        "True division gives floats or complex numbers; floor_divide keeps integers.",
        lambda c: not c.output.inexact,
        ("division", ("float32", "float32"), "float32"),
        ("division", ("int32", "int32"), "int32"),
    ),
    _rule(
        "position-is-int",
        False,
        F,
        "index_reduction",
        "A position is an int32 or an int64: narrower types cannot count, unsigned ones are not NumPy's.",
        lambda c: c.output.name not in ("int32", "int64"),
        ("index_reduction", ("float32",), "int64"),
        ("index_reduction", ("float32",), "uint8"),
    ),
    _rule(
        "index-is-integer",
        False,
        F,
        "indexing",
        "Only integers index data, and items keep the type of the data.",
        lambda c: not c.inputs[1].whole or c.output != c.inputs[0],
        ("indexing", ("float32", "int64"), "float32"),
        ("indexing", ("float32", "float32"), "float32"),
    ),
    # --- the patterns that the design names ----------------------------------------------------------------------
    _rule(
        "same-type",
        True,
        A,
        "arithmetic division bitwise accumulation cast unary reduction cumulative",
        "An operation of one type on that type is always valid.",
        lambda c: c.matching and c.output == c.inputs[0],
        ("arithmetic", ("float32", "float32"), "float32"),
        ("arithmetic", ("int32", "int32"), "int16"),
    ),
    _rule(
        "matching-to-bool",
        True,
        A,
        "comparison logical",
        "Operands of one type compare to bool.",
        lambda c: c.matching,
        ("comparison", ("float32", "float32"), "bool"),
        ("comparison", ("float32", "int32"), "bool"),
    ),
    _rule(
        "conditional",
        True,
        A,
        "select",
        "A bool chooses between two operands of any one type.",
        lambda c: c.matching and c.output == c.operands[0],
        ("select", ("bool", "string", "string"), "string"),
        ("select", ("bool", "int32", "float32"), "float64"),
    ),
    _rule(
        "integer-index",
        True,
        A,
        "indexing index_reduction",
        "Integer indices go with data of any type.",
        lambda c: True,
        ("indexing", ("string", "int32"), "string"),
        ("indexing", ("string", "float32"), "string"),
    ),
    _rule(
        "int8-accumulation",
        True,
        A,
        ACCUMULATING,
        "int8 with int8 accumulates in int32.",
        _is(("int8", "int8"), "int32"),
        ("accumulation", ("int8", "int8"), "int32"),
        ("accumulation", ("int8", "int8"), "int64"),
    ),
    _rule(
        "dequantize",
        True,
        A,
        "arithmetic accumulation cast",
        "int8 with a float32 scale gives float32.",
        _is(("int8", "float32"), "float32"),
        ("arithmetic", ("int8", "float32"), "float32"),
        ("arithmetic", ("int8", "float32"), "float16"),
    ),
    _rule(
        "quantize",
        True,
        A,
        "arithmetic accumulation cast",
        "float32 scaled by float32 is stored as int8.",
        _is(("float32", "float32"), "int8"),
        ("arithmetic", ("float32", "float32"), "int8"),
        ("arithmetic", ("float32", "float32"), "int16"),
    ),
    _rule(
        "half-accumulation",
        True,
        A,
        ACCUMULATING,
        "float16 with float16 accumulates in float32.",
        _is(("float16", "float16"), "float32"),
        ("accumulation", ("float16", "float16"), "float32"),
        ("accumulation", ("float16", "float16"), "float64"),
    ),
    _rule(
        "bfloat16-accumulation",
        True,
        A,
        ACCUMULATING,
        "bfloat16 with bfloat16 accumulates in float32.",
        _is(("bfloat16", "bfloat16"), "float32"),
        ("accumulation", ("bfloat16", "bfloat16"), "float32"),
        ("reduction", ("bfloat16",), "float64"),
    ),
    # --- casts say what they lose --------------------------------------------------------------------------------
    _rule(
        "cast-drops-imaginary",
        False,
        N,
        "cast",
        "A cast from complex to real drops the imaginary part; take real(x).",
        lambda c: c.inputs[0].kind == "c" and c.output.kind in "iuf",
        ("unary", ("complex64",), "float32"),
        ("cast", ("complex64",), "float32"),
    ),
    _rule(
        "explicit-cast",
        True,
        N,
        "cast",
        "An explicit cast between numbers is always valid: it says what it loses.",
        lambda c: True,
        ("cast", ("float64",), "float32"),
        ("arithmetic", ("float64", "float64"), "float32"),
    ),
    # --- what the design forbids ---------------------------------------------------------------------------------
    _rule(
        "double-from-small",
        False,
        A,
        VALUES,
        "Operands of 8 or 16 bits never give double precision.",
        lambda c: c.output.inexact and c.output.part == 8 and any(_small(t) for t in c.inputs),
        ("arithmetic", ("int32", "float64"), "float64"),
        ("arithmetic", ("int8", "float64"), "float64"),
    ),
    _rule(
        "precision-downgrade",
        False,
        A,
        VALUES,
        "A result is never less precise than an operand; cast on purpose.",
        _loses_precision,
        ("arithmetic", ("float64", "float32"), "float64"),
        ("arithmetic", ("float64", "float64"), "float32"),
    ),
    _rule(
        "size-jump",
        False,
        A,
        "arithmetic bitwise accumulation unary",
        "Integers do not jump to four times their width or more.",
        _jumps,
        ("arithmetic", ("int8", "int8"), "int32"),
        ("arithmetic", ("int8", "int8"), "int64"),
    ),
    _rule(
        "bool-to-precision",
        False,
        A,
        VALUES,
        "Bools alone do not become floats or complex numbers.",
        lambda c: c.output.inexact and all(t.kind == "b" for t in c.inputs),
        ("arithmetic", ("bool", "float64"), "float64"),
        ("arithmetic", ("bool", "bool"), "float64"),
    ),
    _rule(
        "operands-match",
        False,
        F,
        "comparison logical select accumulation",
        "These take operands of one type; cast one of them first.",
        lambda c: not c.matching,
        ("comparison", ("int64", "int64"), "bool"),
        ("comparison", ("int64", "uint64"), "bool"),
    ),
    # --- NumPy's promotion, where the design is silent -----------------------------------------------------------
    _rule(
        "numpy-true-divide",
        True,
        N,
        "division",
        "Integers of 32 and 64 bits divide to float64.",
        lambda c: _whole_operands(c) and c.output.name == "float64",
        ("division", ("int32", "int64"), "float64"),
        ("division", ("int8", "int8"), "float64"),
    ),
    _rule(
        "numpy-bool-with-number",
        True,
        N,
        (*NUMBERS, "bitwise"),
        "A bool with a number gives the number's type.",
        lambda c: "b" in _kinds(c) and _promoted(c),
        ("arithmetic", ("bool", "int32"), "int32"),
        ("arithmetic", ("bool", "int32"), "bool"),
    ),
    _rule(
        "numpy-integers",
        True,
        N,
        WHOLE,
        "Two integers give the smallest integer that holds both.",
        lambda c: c.output.whole and _promoted(c),
        ("arithmetic", ("int8", "uint8"), "int16"),
        ("arithmetic", ("int8", "uint8"), "uint8"),
    ),
    _rule(
        "numpy-no-common-integer",
        True,
        N,
        "arithmetic",
        "uint64 with a signed integer gives float64: no integer holds both.",
        lambda c: _kinds(c) == {"i", "u"} and _promoted(c),
        ("arithmetic", ("int64", "uint64"), "float64"),
        ("arithmetic", ("int8", "uint64"), "float64"),
    ),
    _rule(
        "numpy-floats",
        True,
        N,
        NUMBERS,
        "Two floats give the wider one.",
        lambda c: _kinds(c) == {"f"} and _promoted(c),
        ("arithmetic", ("float16", "float32"), "float32"),
        ("arithmetic", ("float16", "float32"), "float16"),
    ),
    _rule(
        "numpy-integer-with-float",
        True,
        N,
        NUMBERS,
        "An integer with a float gives the smallest float that is wide enough for both.",
        lambda c: _kinds(c) in ({"i", "f"}, {"u", "f"}, {"i", "u", "f"}) and _promoted(c),
        ("arithmetic", ("int32", "float32"), "float64"),
        ("arithmetic", ("int32", "float32"), "float32"),
    ),
    _rule(
        "numpy-complex",
        True,
        N,
        NUMBERS,
        "A complex number with another number gives the complex type that holds both.",
        lambda c: "c" in _kinds(c) and _promoted(c),
        ("arithmetic", ("float64", "complex64"), "complex128"),
        ("arithmetic", ("int8", "complex128"), "complex128"),
    ),
    _rule(
        "numpy-float-of-integer",
        True,
        N,
        "unary",
        "A real function of an integer is a float of twice its width, 64 bits at most.",
        lambda c: c.inputs[0].whole and float_of(c.inputs[0]) == c.output,
        ("unary", ("int16",), "float32"),
        ("unary", ("int16",), "float16"),
    ),
    _rule(
        "numpy-test-to-bool",
        True,
        N,
        "unary reduction",
        "Tests (isnan, any, all) of a number answer in bool.",
        lambda c: c.output.kind == "b",
        ("unary", ("float16",), "bool"),
        ("unary", ("string",), "bool"),
    ),
    _rule(
        "numpy-bit-count",
        True,
        N,
        "bitwise",
        "A count of the bits of one integer is a uint8.",
        lambda c: len(c.inputs) == 1 and c.inputs[0].whole and c.output.name == "uint8",
        ("bitwise", ("int64",), "uint8"),
        ("bitwise", ("int64",), "int32"),
    ),
    _rule(
        "numpy-real-part",
        True,
        N,
        "unary",
        "Modulus and parts of a complex number are floats of half its size.",
        lambda c: c.inputs[0].kind == "c" and c.output.kind == "f" and c.output.part == c.inputs[0].part,
        ("unary", ("complex128",), "float64"),
        ("unary", ("complex128",), "float32"),
    ),
    _rule(
        "numpy-integer-sum",
        True,
        N,
        "reduction cumulative",
        "Bools and integers add up in 64 bits.",
        lambda c: _whole_operands(c) and sum_of(c.inputs[0]) == c.output,
        ("reduction", ("int8",), "int64"),
        ("reduction", ("uint8",), "int64"),
    ),
    _rule(
        "numpy-integer-mean",
        True,
        N,
        "reduction",
        "The mean of 32- and 64-bit integers is a float64.",
        lambda c: c.inputs[0].whole and c.output.name == "float64",
        ("reduction", ("int32",), "float64"),
        ("reduction", ("int16",), "float64"),
    ),
    # --- the last word -------------------------------------------------------------------------------------------
    _rule(
        "no-common-type",
        False,
        N,
        NUMBERS,
        "NumPy knows no type that holds both: cast one of them first.",
        lambda c: common(c.inputs) is None,
        ("arithmetic", ("bfloat16", "int8"), "bfloat16"),
        ("arithmetic", ("bfloat16", "float16"), "float32"),
    ),
    _rule(
        "not-numpys-type",
        False,
        N,
        (*VALUES, "bitwise", "select"),
        "NumPy gives another type here, and no pattern of the design asks for this one.",
        lambda c: True,
        ("arithmetic", ("int32", "int64"), "int64"),
        ("arithmetic", ("int32", "int64"), "int32"),
    ),
)

BY_NAME = {rule.name: rule for rule in RULES}
_BY_FAMILY = {family: tuple(rule for rule in RULES if family in rule.families) for family in FAMILIES}


@lru_cache(maxsize=200_000)
def decide(family: str, inputs: tuple[str, ...], output: str) -> Decision:
    """The verdict on a combination: dtype names of the inputs and of the output, in a family of ``FAMILIES``.

    A select has three inputs (condition first), arithmetic two or three, the others as many as their operands.
    ValueError for an unknown family or dtype, or a number of inputs that the family does not have.
    """
    rules = _BY_FAMILY.get(family)
    if rules is None:
        raise ValueError(f"unknown family {family!r}: expected one of {', '.join(FAMILIES)}")
    arity = FAMILIES[family][0]
    allowed = {"arithmetic": (2, 3), "logical": (1, 2), "bitwise": (1, 2)}.get(family, (arity,))
    if len(inputs) not in allowed:
        raise ValueError(f"{family} takes {' or '.join(map(str, allowed))} inputs, got {len(inputs)}: {inputs!r}")
    case = Case(family, tuple(map(dtype, inputs)), dtype(output))
    rule = next(rule for rule in rules if rule.fires(case))
    return Decision(rule.accepts, rule.name, rule.sentence)
