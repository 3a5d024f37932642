"""Small integer loops of the kinds of the public termination contests, each written anew, with its truth.

The kinds are those of the C integer programs of TermComp (Stroeder; Chen, Flur and Mukhopadhyay; Le), of the crafted
termination programs of SV-COMP, and of the polynomial invariants of Rodriguez-Carbonell and Kapur.
"""

# ruff: noqa: E501, E741
from __future__ import annotations

from tests.analysis.proof.fresh_loops import Collection

PUBLIC = Collection()


@PUBLIC.endless
def falling_below():
    x = -1
    y = 0
    while x < 0:
        x = x + y
        y = y - 1
    return x


@PUBLIC.endless
def at_rest_pair():
    x = -1
    y = 0
    while x < y:
        x = x + y
        y = -2 * y
    return x


@PUBLIC.endless
def at_rest_difference():
    x = 0
    y = 0
    while x < 5:
        t = x
        x = t - y
        y = t + y
    return x


@PUBLIC.endless
def fixed_point_of_two():
    x = 10
    y = 3
    while x > 0 and y > 0:
        x = 10 * y - 2 * x
    return x


@PUBLIC.endless
def constant_addend():
    x = 1
    y = 2
    while x > 0:
        x = x + y
    return x


@PUBLIC.endless
def negated_counter():
    x = 0
    y = 11
    while x < 10:
        x = -y
        y = y + 1
    return x


@PUBLIC.endless
def growing_addend():
    x = 0
    y = 0
    while x >= 0:
        x = x + y
        y = y + 1
    return x


@PUBLIC.endless
def three_in_a_row():
    x = -1
    y = 1
    z = -1
    while x < 0:
        x = x + z
        z = -2 * y
        y = y + 1
    return x


@PUBLIC.endless
def upwards():
    x = 3
    while x >= 0:
        x = x + 1
    return x


@PUBLIC.endless
def alternating_divergence():
    i = 3
    while i != 0:
        if i < 0:
            i = i - 1
            i = i * -1
        else:
            i = i + 1
            i = i * -1
    return i


@PUBLIC.endless
def wide_alternation():
    i = 7
    w = 5
    while i != 0:
        if i < -w:
            i = i - 1
            i = i * -1
        else:
            if i > w:
                i = i + 1
                i = i * -1
            else:
                i = 0
    return i


@PUBLIC.endless
def widening_alternation():
    i = 9
    w = 5
    while i != 0:
        if i < -w:
            i = i - 1
            i = i * -1
        else:
            if i > w:
                i = i + 1
                i = i * -1
            else:
                i = 0
        w = w + 1
    return i


@PUBLIC.endless
def outside_of_an_interval():
    i = 4
    while i * i > 9:
        if i < 0:
            i = i - 1
        else:
            i = i + 1
    return i


@PUBLIC.endless
def outside_of_five():
    i = -6
    while i != 0:
        if i > 5:
            i = i + 1
        else:
            if i < -5:
                i = i - 1
            else:
                i = 0
    return i


@PUBLIC.endless
def stuck_at_ten():
    i = 40
    while i > 5:
        if i != 10:
            i = i - 1
    return i


@PUBLIC.endless
def both_negative():
    i = -3
    j = -8
    while i * j > 0:
        i = i - 1
        j = j - 1
    return i


@PUBLIC.endless
def odd_steps():
    i = 7
    while i != 0:
        i = i - 2
    return i


@PUBLIC.endless
def flip():
    i = 3
    j = 5
    while i != 0 and j != 0:
        t = i
        i = j
        j = t
    return i


@PUBLIC.endless
def around_fifty():
    i = 0
    while i < 100:
        if i < 50:
            i = 51
        else:
            i = 49
    return i


@PUBLIC.endless
def up_to_fifty():
    i = 0
    while i < 100:
        if i < 50:
            i = i + 1
        else:
            i = i - 1
    return i


@PUBLIC.endless
def two_intervals():
    i = 25
    while i > 0 and i < 50:
        if i < 20:
            i = i - 1
        if i > 10:
            i = i + 1
        if 30 <= i and i <= 40:
            i = i - 1
    return i


@PUBLIC.endless
def up_and_down():
    i = 4
    up = 0
    while 0 <= i and i <= 10:
        if i == 10:
            up = 0
        if i == 0:
            up = 1
        if up == 1:
            i = i + 1
        else:
            i = i - 1
    return i


@PUBLIC.endless
def stuck_at_three():
    i = -20
    while i < 10:
        if i != 3:
            i = i + 1
    return i


@PUBLIC.endless
def never_below():
    i = 10
    while i <= 10:
        i = i - 1
    return i


@PUBLIC.endless
def inner_reset():
    i = 0
    while i < 100:
        j = 0
        while j < 3:
            j = j + 1
        i = i - j + 3
    return i


@PUBLIC.endless
def nested_with_reset():
    i = 0
    j = 0
    while i < 10:
        j = 3
        while j < 12:
            j = j - 1
            if j < 2:
                j = 13
        i = i + j - 13
    return i


@PUBLIC.endless
def minus_grows():
    x = 5
    c = -1
    while x + c >= 0:
        x = x - c
        c = c - 1
    return x


@PUBLIC.endless
def phases_of_two():
    x = -100
    z = 3
    while x < 0 or z > 0:
        if x < 0:
            x = x + z
            z = z + 1
        else:
            z = z + 1
    return x


@PUBLIC.endless
def phases_of_three():
    x = 50
    y = 10
    z = 1
    while x > 0:
        if y > 0:
            y = y - 1
        else:
            if z < 20:
                z = z + 1
            else:
                x = x + 1
    return x


@PUBLIC.endless
def swapped_sums():
    x = 1
    y = 1
    while x + y >= 2:
        t = x
        x = y
        y = t + 1
    return x


@PUBLIC.endless
def max_plus():
    x = 1
    y = 4
    while max(x, y) > 0:
        if x > y:
            y = x + 1
        else:
            x = y + 1
    return x


@PUBLIC.endless
def divided_and_back():
    x = 17
    while x > 0:
        x = x // 2
        x = x * 2 + 1
    return x


@PUBLIC.endless
def remainder_walk():
    x = 1
    m = 0
    while x != 0:
        x = (x * 3 + m * 0) % 8
        m = m + 1
    return x


@PUBLIC.endless
def gcd_with_zero():
    a = 6
    b = 0
    while a != b:
        if a > b:
            a = a - b
        else:
            b = b - a
    return a


@PUBLIC.endless
def wrong_gcd():
    a = 9
    b = 6
    while a != 0:
        if a > b:
            a = a - b
        else:
            a, b = b, a
    return a


@PUBLIC.endless
def square_root_wrong_way():
    a = 0
    s = 1
    t = 1
    while s >= 1:
        a = a + 1
        t = t + 2
        s = s + t
    return a


@PUBLIC.endless
def cubes_by_sums():
    m = 0
    x = 0
    y = 1
    z = 6
    while 6 * m + 6 == z:
        m = m + 1
        x = x + y
        y = y + z
        z = z + 6
    return m


@PUBLIC.endless
def cubes_y():
    m = 0
    x = 0
    y = 1
    z = 6
    while y == 3 * m * m + 3 * m + 1:
        m = m + 1
        x = x + y
        y = y + z
        z = z + 6
    return m


@PUBLIC.endless
def power_sum_two():
    y = 0
    x = 0
    while 2 * x - y * y - y == 0:
        y = y + 1
        x = x + y
    return y


@PUBLIC.endless
def power_sum_three():
    y = 0
    x = 0
    while 6 * x == 2 * y * y * y + 3 * y * y + y:
        y = y + 1
        x = y * y + x
    return y


@PUBLIC.endless
def two_to_one():
    x = 0
    y = 0
    z = 0
    while x + y + z != 5:
        x = x + 2
        y = y - 1
        z = z - 1
    return x


@PUBLIC.endless
def square_root_identity():
    a = 0
    s = 1
    t = 1
    while s == (a + 1) * (a + 1) and t == 2 * a + 1:
        a = a + 1
        t = t + 2
        s = s + t
    return a


@PUBLIC.endless
def product_by_hand():
    x = 13
    y = 7
    z = 0
    while z + x * y == 91:
        z = z + x
        y = y - 1
    return x


@PUBLIC.endless
def sum_is_kept():
    x = 100
    y = 0
    k = 0
    while x + y == 100:
        if k % 2 == 0:
            x = x - 1
            y = y + 1
        else:
            x = x - 3
            y = y + 3
        k = k + 1
    return x


@PUBLIC.endless
def growing_sweeps():
    i = 0
    n = 3
    while n > 0:
        i = i + 1
        if i >= n:
            i = 0
            n = n + 1
    return i


@PUBLIC.endless
def inner_of_growing_length():
    n = 1
    while n > 0:
        j = 0
        while j < n:
            j = j + 1
        n = j + 1
    return n


@PUBLIC.ends(1000000000000)
def counts_down():
    x = 10**12
    while x != 0:
        x = x - 1
    return x


@PUBLIC.ends(447213596)
def falls_faster():
    x = 10**17
    y = 0
    while x >= 0:
        x = x + y
        y = y - 1
    return x


@PUBLIC.ends(30)
def third_order():
    x = 1000
    y = 50
    z = 3
    while x >= 0:
        x = x + y
        y = y + z
        z = z - 1
    return x


@PUBLIC.ends(3000000000)
def two_phases():
    x = -(10**9)
    y = 10**10
    while y > 0:
        if x < 0:
            x = x + 1
        else:
            y = y - 5
    return x


@PUBLIC.ends(150000000001)
def left_or_right():
    l = 0
    r = 3 * 10**11
    while l < r:
        if (l + r) % 2 == 0:
            l = l + 1
        else:
            r = r - 2
    return l


@PUBLIC.ends(9)
def converging_alternation():
    i = -9
    while i != 0:
        if i < 0:
            i = i + 1
            i = i * -1
        else:
            i = i - 1
            i = i * -1
    return i


@PUBLIC.ends(11)
def gcd():
    a = 1071
    b = 462
    while a != b:
        if a > b:
            a = a - b
        else:
            b = b - a
    return a


@PUBLIC.ends(500000000000000)
def far_gcd():
    a = 10**15 + 1
    b = 2
    while a > 1:
        if a > b:
            a = a - b
        else:
            a, b = b, a
    return a


@PUBLIC.ends(201)
def mc_carthy():
    x = 1
    c = 1
    while c > 0:
        if x > 100:
            x = x - 10
            c = c - 1
        else:
            x = x + 11
            c = c + 1
    return x


@PUBLIC.ends(111)
def collatz():
    x = 27
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
    return x


@PUBLIC.ends(10000000000)
def sweeps():
    i = 0
    j = 0
    while i < 10**9:
        j = j + 1
        if j >= 10:
            j = 0
            i = i + 1
    return i


@PUBLIC.ends(2000000000)
def gauss():
    i = 2 * 10**9
    s = 0
    while i > 0:
        s = s + i
        i = i - 1
    return i


@PUBLIC.ends(200000000000000)
def meeting():
    x = 0
    y = 10**15
    while x < y:
        x = x + 2
        y = y - 3
    return x


@PUBLIC.ends(1100000000)
def wide_guard():
    x = 0
    y = 0
    while x < 10**8:
        if y < 10:
            y = y + 1
        else:
            y = 0
            x = x + 1
    return x


@PUBLIC.ends(1000000000)
def square_root():
    a = 0
    s = 1
    t = 1
    while s <= 10**18:
        a = a + 1
        t = t + 2
        s = s + t
    return a


@PUBLIC.ends(1000000000)
def inner_fixed():
    i = 0
    while i < 3 * 10**9:
        j = 0
        while j < 3:
            j = j + 1
        i = i + j
    return i


@PUBLIC.ends(50)
def binary_digits():
    x = 10**15
    while x > 0:
        x = x // 2
    return x


@PUBLIC.ends(100001)
def cubes_to():
    m = 0
    x = 0
    y = 1
    z = 6
    while m <= 10**5:
        m = m + 1
        x = x + y
        y = y + z
        z = z + 6
    return m


@PUBLIC.ends(5000001)
def narrow():
    i = 0
    d = 1
    while i >= 0 and i <= 10**7:
        if i < 3:
            d = 2
        i = i + d
    return i


@PUBLIC.ends(1000000000000)
def absolute_falls():
    x = -4 * 10**12
    while abs(x) > 3:
        x = x + 4
    return x
