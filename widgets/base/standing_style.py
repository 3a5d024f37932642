"""The style of the statuses of a loop: cards and verdicts share one list of signs and colours.

See :mod:`workbench.analysis.standing`. A sign is white on its colour in the light theme, black in the dark one.
"""

from __future__ import annotations

from workbench.analysis.standing import Standing

_DARK = 'body[data-jp-theme-light="false"] '


def _rules(standing: Standing) -> str:
    tone = f'[data-tone="{standing.slug}"]'
    light, dark = standing.colour("light"), standing.colour("dark")
    sign = f"\\{ord(standing.sign):X}"
    return (
        f'.workbench-card{tone}::before {{ content: "{sign}"; background: {light}; }}\n'
        f"{_DARK}.workbench-card{tone}::before {{ background: {dark}; color: #1b1c1e; }}\n"
        f".workbench-card-verdict{tone} .workbench-card-title {{ color: {light}; }}\n"
        f"{_DARK}.workbench-card-verdict{tone} .workbench-card-title {{ color: {dark}; }}\n"
        f".workbench-verdict{tone} {{ --workbench-tone: {light}; }}\n"
        f"{_DARK}.workbench-verdict{tone} {{ --workbench-tone: {dark}; }}\n"
    )


#: rules for the statuses of loops that are over, by the slug as ``data-tone``
STYLE = "".join(_rules(standing) for standing in Standing if standing.over)
