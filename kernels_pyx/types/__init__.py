"""Selective rendering: which combinations of types have compiled kernels, and why.

::

    dtypes    the type table and NumPy's promotion
    rules     THE rule table: decide(family, inputs, output), the first rule that fires decides
    ops       the op table
    compilable  ops x rules -> why an instance can or cannot be compiled
    profiles  named sets of types, and profile files
    select    ops x rules x profile -> instances to compile
    summary   what a profile means, as JSON and text        generate   called by the build, not installed
    measured  recorded figures of the profiles, text size of this build
    queries   what this build compiled, and explanations

Here ``rules`` and ``profiles`` are the tables themselves (of ``Rule``, and name -> ``Profile``); the modules of those
names are imported from by their full path. All but ``queries`` is read at build time too: standard library only.
"""

from workbench.kernels.types.dtypes import TYPES as dtypes
from workbench.kernels.types.profiles import PROFILES as profiles
from workbench.kernels.types.profiles import Profile, ProfileError, resolve
from workbench.kernels.types.queries import KernelExplanation, compiled, explain, missing, report, report_text
from workbench.kernels.types.rules import FAMILIES as families
from workbench.kernels.types.rules import RULES as rules
from workbench.kernels.types.rules import Decision, Rule, decide

__all__ = [
    "Decision",
    "KernelExplanation",
    "Profile",
    "ProfileError",
    "Rule",
    "compiled",
    "decide",
    "dtypes",
    "explain",
    "families",
    "missing",
    "profiles",
    "report",
    "report_text",
    "resolve",
    "rules",
]
