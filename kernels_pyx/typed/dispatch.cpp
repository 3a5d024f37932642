// Selects, once, the widest instruction set that the build has and the processor and the system support.

#include "table.hpp"

#include <cstring>

#define WB_TABLE(unit, isa) extern "C" const wb_table wb_##unit##_##isa
#define WB_GAINING(isa) WB_TABLE(casts, isa); WB_TABLE(narrow, isa); WB_TABLE(reductions, isa); WB_TABLE(products, isa)
#define WB_OTHERS(isa)                                                                                              \
    WB_TABLE(arithmetic, isa); WB_TABLE(chains, isa); WB_TABLE(comparison, isa); WB_TABLE(bits, isa); WB_TABLE(complex, isa)
// The tables of a set; units that gain nothing from it use those of another set.
#define WB_TABLES(isa, others)                                                                                      \
    static const wb_table* tables_##isa[] = {                                                                       \
        &wb_arithmetic_##others, &wb_chains_##others, &wb_comparison_##others, &wb_bits_##others, &wb_casts_##isa,  \
        &wb_narrow_##isa, &wb_complex_##others, &wb_reductions_##isa, &wb_products_##isa, &wb_functions_baseline,   \
        nullptr}

WB_TABLE(functions, baseline);
WB_GAINING(baseline);
WB_OTHERS(baseline);
WB_TABLES(baseline, baseline);
#ifdef WB_X86
WB_GAINING(avx2);
WB_OTHERS(avx2);
WB_TABLES(avx2, avx2);
WB_GAINING(avx512);
WB_TABLES(avx512, avx2);
#endif

namespace {

struct Choice {
    const char* name;
    const wb_table** tables;
    bool supported;
};

}  // namespace

// forced: null or empty for the best one; otherwise a name; returns null if it is unknown or unsupported.
extern "C" const wb_table** wb_choose(const char* forced, const char** name) {
#ifdef WB_X86
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    const Choice choices[] = {
        {"avx512", tables_avx512, avx512}, {"avx2", tables_avx2, avx2}, {"x86-64", tables_baseline, true}};
#else
    const Choice choices[] = {{"portable", tables_baseline, true}};
#endif
    for (const Choice& c : choices) {
        if (c.supported && (!forced || !*forced || std::strcmp(forced, c.name) == 0)) {
            *name = c.name;
            return c.tables;
        }
    }
    return nullptr;
}
