"""Loops of public questions about tables, searches, counters and sums; each is written anew.

All were told truly when they were first asked about, before anything was changed for them.
"""

from __future__ import annotations

import numpy as np

import workbench as wb

from .public_loop import PublicLoop, ends, never


@wb.graph
def celsius(start, stop, step):
    count = 0
    while start <= stop:
        count += 1
        start = start + step
    return count


@wb.graph
def down_by_fifths(d):
    while d != 0.0:
        d = d - 0.2
    return d


@wb.graph
def put_in_full_table(slots, key):
    at = key % 4
    while slots[at] != -1 and slots[at] != key:
        at = (at + 1) % 4
    return at


@wb.graph
def double_hashing(slots, a, b):
    at = a % 7
    tried = 0
    while slots[at] != 0:
        tried += 1
        at = (a + tried * b) % 7
    return at


@wb.graph
def perturbed_probe(used, perturb):
    i = 0
    while used[i] == 1:
        perturb = perturb >> 5
        i = (5 * i + perturb + 1) % 8
    return i


@wb.graph
def partition_of_equals(given, pivot):
    a = given.copy()
    i = 0
    j = 6
    while i < j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i < j:
            t = a[i]
            a[i] = a[j]
            a[j] = t
    return i


@wb.graph
def range_with_step(i, step, last):
    while i <= last:
        i = i + step
    return i


@wb.graph
def cycles_of_a_machine(cycles, start, n):
    while start + n > cycles:
        cycles = cycles + np.uint32(2)
    return cycles


@wb.graph
def steps_of_nan(end, step):
    i = 0.0
    n = 0
    while not (i > end):
        i = i + step
        n += 1
    return n


@wb.graph
def inner_takes_the_counter():
    i = 0
    total = 0
    while i < 10:
        for j in range(3):
            i = j
            total += j
    return total


@wb.graph
def counters_of_equal_speed(fast, slow):
    while fast - slow > 3:
        fast = fast - 2
        slow = slow - 2
    return fast


@wb.graph
def order_of(a, n):
    power = a % n
    k = 1
    while power != 1:
        power = power * a % n
        k += 1
    return k


@wb.graph
def fibonacci(limit):
    a = np.int32(0)
    b = np.int32(1)
    n = 0
    while b <= limit:
        a, b = b, a + b
        n += 1
    return n


@wb.graph
def length_of_number(n):
    digits = 0
    while n != 0:
        n = n // 10
        digits += 1
    return digits


@wb.graph
def halves_only_evens(n):
    while n > 0:
        if n % 2 == 0:
            n = n // 2
    return n


@wb.graph
def clock_of_floats(t, dt, end):
    while t < end:
        t = t + dt
    return t


@wb.graph
def integer_root(n):
    x = n
    while x * x != n:
        x = (x + n // x) // 2
    return x


@wb.graph
def residue_generator(seed):
    n = 0
    while seed != 0:
        seed = (5 * seed + 3) % 64
        n += 1
    return n


@wb.graph
def odd_divisor(n):
    d = 3
    while n % d != 0 and d < 1000:
        d += 2
    return d


@wb.graph
def sum_of_items(x, goal):
    while np.sum(x) != goal:
        x = x + 0.1
    return x


@wb.graph
def mean_of_items(x, goal):
    while np.mean(x) < goal:
        x = x + 0.1
    return x


LOOPS = [
    PublicLoop(
        "celsius_float32",
        "stackoverflow.com/questions/3695178",
        celsius,
        (np.float32(0), np.float32(3000), np.float32(1.1)),
        ends(2728),
    ),
    PublicLoop(
        "down_by_fifths",
        "a question: why does this loop never end",
        down_by_fifths,
        (2.0,),
        never(cause=("steps over",), kinds=("steps-over",)),
    ),
    PublicLoop(
        "full_table",
        "RunestoneServer#693",
        put_in_full_table,
        (np.array([4, 1, 6, 3]), 8),
        never(cause=("at", "slots"), kinds=("circles", "period")),
    ),
    PublicLoop("free_slot", "RunestoneServer#693", put_in_full_table, (np.array([4, 1, -1, 3]), 8), ends(2)),
    PublicLoop(
        "second_hash_is_the_size",
        "write-a-hash-table#35",
        double_hashing,
        (np.array([1, 1, 1, 0, 1, 1, 1]), 2, 7),
        never(cause=("at", "slots")),
    ),
    PublicLoop(
        "perturb_minus_one",
        "modular#1729",
        perturbed_probe,
        (np.array([1, 0, 1, 0, 1, 1, 0, 1]), -1),
        never(cause=("i", "used")),
    ),
    PublicLoop(
        "partition_of_equals",
        "a C++ forum, question about quick sort",
        partition_of_equals,
        (np.array([7, 6, 4, 9, 8, 2, 7]), 7),
        never(cause=("i", "j", "a")),
    ),
    PublicLoop(
        "range_to_the_last_int32",
        "wac-archive#7",
        range_with_step,
        (np.int32(2147483647), np.int32(1), np.int32(2147483647)),
        never(cause=("Every int32",), kinds=("every-number",)),
    ),
    PublicLoop("range_from_int32", "perry#6072", range_with_step, (np.int32(-5), np.int32(3), np.int32(10)), ends(6)),
    PublicLoop(
        "cycles_wrap",
        "mos6502#7",
        cycles_of_a_machine,
        (np.uint32(4294967280), np.uint32(4294967280), np.uint32(100)),
        ends(0),
    ),
    PublicLoop(
        "steps_of_nan", "openscad#606", steps_of_nan, (0.0, float("nan")), never(cause=("NaN",), kinds=("nan",))
    ),
    PublicLoop(
        "inner_takes_the_counter",
        "one variable for two loops",
        inner_takes_the_counter,
        (),
        never(cause=("i stays 2", "i")),
    ),
    PublicLoop(
        "equal_speed",
        "two counters that go down together",
        counters_of_equal_speed,
        (10, 2),
        never(cause=("fast", "slow")),
    ),
    PublicLoop("order_of_two_mod_6", "order of a number that has none", order_of, (2, 6), never(cause=("power",))),
    PublicLoop("order_of_3_mod_7", "order of a number", order_of, (3, 7), ends(5)),
    PublicLoop(
        "fibonacci_int32",
        "Fibonacci numbers become negative",
        fibonacci,
        (np.int32(2147483647),),
        never(cause=("Every int32",), kinds=("every-number",)),
    ),
    PublicLoop("fibonacci_to_1000", "Fibonacci numbers", fibonacci, (np.int32(1000),), ends(16)),
    PublicLoop(
        "digits_of_minus_5", "length of a negative number", length_of_number, (-5,), never(cause=("n stays -1",))
    ),
    PublicLoop(
        "halves_only_evens",
        "a branch without else",
        halves_only_evens,
        (12,),
        never(cause=("n % 2 == 0",), kinds=("guard",)),
    ),
    PublicLoop(
        "clock_of_floats",
        "time steps in single precision",
        clock_of_floats,
        (np.float32(0), np.float32(1e-3), np.float32(50000)),
        never(cause=("t stays 32768.0",), kinds=("absorbed",)),
    ),
    PublicLoop("integer_root_of_8", "integer Newton without a root", integer_root, (8,), never(cause=("x",))),
    PublicLoop("integer_root_of_49", "integer Newton", integer_root, (49,), ends(4)),
    PublicLoop("residues", "a small linear congruential generator", residue_generator, (1,), ends(25)),
    PublicLoop("odd_divisor", "smallest odd divisor of a power of two", odd_divisor, (1024,), ends(499)),
    PublicLoop(
        "sum_misses",
        "sums of floats compared with !=",
        sum_of_items,
        (np.array([0.0, 0.0, 0.0]), 1.0),
        never(cause=("steps over",), kinds=("steps-over",)),
    ),
    PublicLoop(
        "mean_reaches", "sums of floats compared with <", mean_of_items, (np.array([0.0, 1.0, 2.0]), 50.0), ends(490)
    ),
]
