# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Solutions: debugging an ONNX model
#
# The exercises are in [10_onnx_model.ipynb](../10_onnx_model.ipynb). There are other right answers; the checks accept
# them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
import json
from pathlib import Path

import course
import numpy as np
import onnx

import workbench as wb

# The model, as it stands in the notebook
cells = json.loads(Path("../10_onnx_model.ipynb").read_text())["cells"]
source = next("".join(cell["source"]) for cell in cells if "MODEL = " in "".join(cell["source"]))
MODEL = source.split('"""')[1]
graph = wb.from_onnx(onnx.parser.parse_model(MODEL))
theirs = np.array([[4, 1], [2, 3]], np.float32)
session = wb.Session(graph, {"A": theirs, "start": np.array([1, 0], np.float32), "limit": np.array(1000)})
session.run()

# %% [markdown]
# **10.1** The body ran once for each value of `w`.

# %%
course.check_answer("10.1", len(session.trace["w"]))

# %% [markdown]
# **10.2** With `ours` the last change is 0.002 and above the tolerance. With `theirs` it is below after 12 iterations.

# %%
course.check_answer("10.2", "cut off", "converged")

# %% [markdown]
# **10.3**

# %%
print(round(float(session.value("moved", iteration=5)), 4))
course.check_answer("10.3", session.value("moved", iteration=5))

# %% [markdown]
# **10.4** One more loop variable has four places: the Loop's inputs, the body's inputs, the body's outputs, the Loop's
# outputs. At the end it holds the last answer to "go on?". If that is false, the loop has converged.

# %%
changes = {
    "float[k] history) {": "float[k] history, bool converged) {",
    "v_end, eigenvalue, history = Loop (limit, yes, start, zero)": (
        "v_end, eigenvalue, last, history = Loop (limit, yes, start, zero, yes)"
    ),
    "float[n] v, float size)": "float[n] v, float size, bool before)",
    "float size_next, float seen)": "float size_next, bool again, float seen)",
    "      seen = Identity": "      again = Identity (go_on)\n      seen = Identity",
    "    }>\n}": "    }>\n  converged = Not (last)\n}",
}
new_model = MODEL
for before, after in changes.items():
    assert before in new_model
    new_model = new_model.replace(before, after)
course.check_answer("10.4", new_model)

# %%
session.close()
course.score("10")
