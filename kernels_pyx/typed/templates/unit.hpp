// The body of a unit: WB_UNIT names it, the build has written its instances to WB_UNIT.inc, and the same lines are read
// once for each of the four tables.
#pragma once

#include "matmul.hpp"
#include "reduce.hpp"
#include "statistics.hpp"

#define WB_TEXT_(x) #x
#define WB_TEXT(x) WB_TEXT_(x)
#define WB_JOIN_(a, b, c) a##b##_##c
#define WB_JOIN(a, b, c) WB_JOIN_(a, b, c)
#define WB_LINES WB_TEXT(WB_UNIT.inc)
#define WB_BARE(...) __VA_ARGS__

namespace wb {
inline namespace WB_ISA {
namespace {

#define WB_UNARY(name, Op, A, O, C) Unary<Op, A, O, C>::row(name),
#define WB_BINARY(name, Op, A, B, O, C) Binary<Op, A, B, O, C>::row(name),
#define WB_TERNARY(name, Op, T, C) Ternary<WB_BARE Op, T, C>::row(name),
#define WB_SELECT(name, If, A, B, O, C) Select<If, A, B, O, C>::row(name),
#define WB_STRING(name) {name, nullptr, nullptr, nullptr, nullptr, nullptr},
#define WB_REDUCE(name, Op, A, O, C)
#define WB_TRUTH(name, A, All)
#define WB_POSITION(name, A, O, Greatest)
#define WB_CUMULATE(name, Op, A, O, C)
#define WB_PRODUCT(name, A, O, C)
#define WB_STATISTICS(name, A)
const wb_row rows[] = {
#include WB_LINES
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}};
#undef WB_UNARY
#undef WB_BINARY
#undef WB_TERNARY
#undef WB_SELECT
#undef WB_STRING
#undef WB_REDUCE
#undef WB_TRUTH
#undef WB_POSITION
#undef WB_CUMULATE
#undef WB_PRODUCT
#undef WB_STATISTICS

#define WB_UNARY(name, Op, A, O, C)
#define WB_BINARY(name, Op, A, B, O, C)
#define WB_TERNARY(name, Op, T, C)
#define WB_SELECT(name, If, A, B, O, C)
#define WB_STRING(name)
#define WB_REDUCE(name, Op, A, O, C) {name, Reduce<Op, A, O, C>::call},
#define WB_TRUTH(name, A, All) {name, Truth<A, All>::call},
#define WB_POSITION(name, A, O, Greatest) {name, Position<A, O, Greatest>::call},
#define WB_CUMULATE(name, Op, A, O, C) {name, Cumulate<Op, A, O, C>::call},
#define WB_PRODUCT(name, A, O, C)
#define WB_STATISTICS(name, A)
const wb_reduce_row reductions[] = {
#include WB_LINES
    {nullptr, nullptr}};
#undef WB_REDUCE
#undef WB_TRUTH
#undef WB_POSITION
#undef WB_CUMULATE
#undef WB_PRODUCT
#undef WB_STATISTICS

#define WB_REDUCE(name, Op, A, O, C)
#define WB_TRUTH(name, A, All)
#define WB_POSITION(name, A, O, Greatest)
#define WB_CUMULATE(name, Op, A, O, C)
#define WB_PRODUCT(name, A, O, C) {name, Product<A, O, C>::call},
#define WB_STATISTICS(name, A)
const wb_matmul_row products[] = {
#include WB_LINES
    {nullptr, nullptr}};
#undef WB_PRODUCT
#undef WB_STATISTICS

#define WB_PRODUCT(name, A, O, C)
#define WB_STATISTICS(name, A) {name, Statistics<A>::call, OfOps<A>::table},
const wb_statistics_row statistics[] = {
#include WB_LINES
    {nullptr, nullptr, nullptr}};

}  // namespace
}  // namespace WB_ISA
}  // namespace wb

extern "C" const wb_table WB_JOIN(wb_, WB_UNIT, WB_ISA);
extern "C" const wb_table WB_JOIN(wb_, WB_UNIT, WB_ISA) = {wb::rows, wb::reductions, wb::products, wb::statistics};
