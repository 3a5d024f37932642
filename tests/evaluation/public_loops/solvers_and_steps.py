"""Loops of public questions about roots, line searches, step controls and maps; each is written anew.

All were told truly when they were first asked about, before anything was changed for them.
"""

from __future__ import annotations

import numpy as np

import workbench as wb

from .public_loop import PublicLoop, ends, never


@wb.graph
def babylonian_one_percent(n):
    guess = 4.0
    last = 0.0
    r = 0.0
    while guess >= last * 0.01:
        r = n / guess
        last = guess
        guess = (guess + r) / 2
    return r


@wb.graph
def newton_until_equal(n):
    x = n
    before = 0.0
    while x != before:
        before = x
        x = (x + n / x) / 2
    return x


@wb.graph
def square_root_of_logo(n, x):
    while (x - n / x) * (x - n / x) != 0.0:
        x = (x + n / x) / 2
    return x


@wb.graph
def newton_forgets_y(n):
    x = 1.0
    y = 2.0
    while abs(x - y) > 0.00001:
        x = (n / x + x) / 2
    return x


@wb.graph
def first_step_size(epsilon, h0, h):
    delta = h0 - h
    direction = 1.0 if delta > np.log(0.8) else -1.0
    running = 1
    while running == 1:
        epsilon = 2.0 * epsilon if direction > 0 else 0.5 * epsilon
        delta = h0 - h * epsilon
        if direction > 0:
            if not (delta > np.log(0.8)):
                running = 0
        else:
            if not (delta < np.log(0.8)):
                running = 0
    return epsilon


@wb.graph
def mollweide(latitude):
    theta = latitude
    change = 1.0
    while abs(change) > 1e-16:
        change = (2.0 * theta + np.sin(2.0 * theta) - np.pi * np.sin(latitude)) / (2.0 + 2.0 * np.cos(2.0 * theta))
        theta = theta - change
    return theta


@wb.graph
def self_consistent(v):
    energy = 0.0
    change = 1.0
    while abs(change) > 1e-9:
        before = energy
        energy = v - 3.1 * energy * (1.0 - energy)
        change = energy - before
    return energy


@wb.graph
def trust_region(x, radius):
    g = 2.0 * (x - 1.0)
    while abs(g) > 1e-12:
        step = -radius if g > 0 else radius
        gain = (x - 1.0) ** 2 - (x + step - 1.0) ** 2
        if gain > 0:
            x = x + step
        else:
            radius = radius * 0.25
        g = 2.0 * (x - 1.0)
    return x


@wb.graph
def line_search_along_the_contour(x, y):
    t = 1.0
    f = x * x + y * y
    while (x - t * y) ** 2 + (y + t * x) ** 2 >= f:
        t = t * 0.5
    return t


@wb.graph
def root_of_nan(value):
    before = 0.0
    now = value
    while not (abs(now - before) < 1e-6):
        before = now
        now = 0.5 * (now + value / now)
    return now


@wb.graph
def takeoff_weight(w):
    guess = 0.0
    n = 0
    while w != guess and n < 1000:
        guess = w
        fraction = (1.0 - 0.6) * 1.06
        w = 25000.0 / (1.0 - fraction - 0.457)
        n += 1
    return w


@wb.graph
def logistic_until_one(x, r):
    while x <= 1.0:
        x = r * x * (1.0 - x)
    return x


@wb.graph
def cosine_until_it_stays(x):
    before = 2.0
    while x != before:
        before = x
        x = np.cos(x)
    return x


@wb.graph
def roots_until_one(x):
    n = 0
    while x != 1.0:
        x = np.sqrt(x)
        n += 1
    return n


@wb.graph
def too_large_a_step(x, rate):
    while abs(2.0 * x) > 1e-6:
        x = x - rate * 2.0 * x
    return x


@wb.graph
def too_large_by_a_little(x):
    while abs(x) > 1e-6:
        x = x - 1.0 * 2.0 * x
    return x


@wb.graph
def cooling_schedule(t, alpha):
    while t > 1e-3:
        t = t * alpha
    return t


@wb.graph
def geometric_mean(a, g):
    while a != g:
        mean = (a + g) / 2
        g = np.sqrt(a * g)
        a = mean
    return a


@wb.graph
def kepler(anomaly, e):
    E = anomaly
    step = 1.0
    while abs(step) > 1e-15:
        step = (E - e * np.sin(E) - anomaly) / (1.0 - e * np.cos(E))
        E = E - step
    return E


LOOPS = [
    PublicLoop(
        "one_percent_of_last",
        "stackoverflow.com/questions/25966286",
        babylonian_one_percent,
        (144.0,),
        never(cause=("guess",)),
    ),
    PublicLoop("newton_until_equal", "java-forums, Newton's square root method", newton_until_equal, (2.0,), ends(6)),
    PublicLoop("logo_378", "math.stackexchange.com/questions/1848805", square_root_of_logo, (378.0, 189.0), ends(8)),
    PublicLoop("newton_forgets_y", "java-forums, Newton's square root method", newton_forgets_y, (4.0,), ends(4)),
    PublicLoop(
        "newton_forgets_y_of_9",
        "java-forums, Newton's square root method",
        newton_forgets_y,
        (9.0,),
        never(cause=("y",)),
    ),
    PublicLoop("step_size_of_nan", "stan#3029", first_step_size, (float("nan"), 0.0, 1.0), ends(1)),
    PublicLoop("step_size_down", "stan#3029", first_step_size, (1.0, 0.0, 1.0), ends(3)),
    PublicLoop("step_size_to_infinity", "stan#3029", first_step_size, (-1.0, 0.0, 0.0), ends(1024)),
    PublicLoop("mollweide", "IDLAstro#37", mollweide, (1.2,), ends(7)),
    PublicLoop("energies_oscillate", "dftcxx#3", self_consistent, (0.9,), never(cause=("energy", "change"))),
    PublicLoop("trust_region", "dlib#210", trust_region, (3.0, 0.7), ends(49)),
    PublicLoop("search_along_a_contour", "ISOtope#31", line_search_along_the_contour, (3.0, 4.0), never(cause=("t",))),
    PublicLoop("root_of_nan", "raytracer.hpp#4", root_of_nan, (float("nan"),), never(cause=("NaN",), kinds=("nan",))),
    PublicLoop("takeoff_weight", "a MATLAB question, iterating until convergence", takeoff_weight, (50000.0,), ends(2)),
    PublicLoop(
        "logistic_until_one",
        "logistic map, r below 4",
        logistic_until_one,
        (0.3, 3.9),
        never(cause=("x stays between",), kinds=("bounded",)),
    ),
    PublicLoop("cosine", "the number of Dottie", cosine_until_it_stays, (1.0,), ends(93)),
    PublicLoop("roots_until_one", "square roots on a pocket calculator", roots_until_one, (2.0,), ends(52)),
    PublicLoop("diverges_to_nan", "gradient descent, rate too large", too_large_a_step, (1.0, 1.5), ends(1025)),
    PublicLoop(
        "swings_for_ever",
        "gradient descent, rate too large",
        too_large_by_a_little,
        (1.0,),
        never(cause=("x",), kinds=("overshoots", "circles", "period")),
    ),
    PublicLoop(
        "alpha_one",
        "annealing with alpha 1",
        cooling_schedule,
        (100.0, 1.0),
        never(cause=("alpha",), kinds=("neutral",)),
    ),
    PublicLoop("geometric_mean", "arithmetic-geometric mean until equal", geometric_mean, (1.0, 2.0), ends(4)),
    PublicLoop("kepler", "Kepler's equation, tolerance 1e-15", kepler, (0.8, 0.6), ends(6)),
]
