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
# # Solutions: a TensorFlow 1 graph
#
# The exercises are in [11_tensorflow_graph.ipynb](../11_tensorflow_graph.ipynb). There are other right answers; the
# checks accept them too.

# %%
import sys

sys.path.insert(0, "..")  # the checks lie beside the notebooks
from pathlib import Path

import course
import numpy as np

import workbench as wb

path = Path("../models/savings.pbtxt")
text, graph = path.read_text(), wb.load(path)

# %% [markdown]
# **11.1** The trace has all balances.

# %%
session = wb.Session(graph, {"deposit:0": 1000.0, "rate:0": 0.05, "goal:0": 2000.0})
session.run()
course.check_answer("11.1", np.flatnonzero(session.trace["while/Merge:0"].values > 1800.0)[0])

# %% [markdown]
# **11.2** `update` gives new inputs to the same session.

# %%
for percent in range(5, 10):
    session.update({"rate:0": percent / 100})
    print(percent, "percent:", session.outputs["years:0"], "years")
    if session.outputs["years:0"] <= 10:
        break
course.check_answer("11.2", percent / 100)
session.close()

# %% [markdown]
# **11.3** A new Enter for the deposit, made from that of the rate, and one input that is changed.

# %%
head = 'node {\n  name: "%s"'
enter = text[text.index(head % "while/rate") : text.index(head % "while/goal")]
new_enter = enter.replace('"while/rate"', '"while/principal"').replace('input: "rate"', 'input: "deposit"')
start = text.index(head % "while/interest")
end = text.index(head % "while/balance")
interest = text[start:end].replace('input: "while/Identity"', 'input: "while/principal"')
new_text = (text[:start] + interest + text[end:]).replace(enter, enter + new_enter)
print(new_enter + interest)
course.check_answer("11.3", new_text)

# %%
course.score("11")
