// Picks, once, the widest instruction set that the build has and the processor and the system support.

#include "table.hpp"

#include <cstring>

#define WB_DECLARE(isa)                                                                                         \
    extern "C" const wb_table wb_arithmetic_##isa, wb_chains_##isa, wb_comparison_##isa, wb_bits_##isa,         \
        wb_casts_##isa, wb_narrow_##isa, wb_complex_##isa, wb_reductions_##isa, wb_products_##isa;              \
    static const wb_table* tables_##isa[] = {                                                             \
        &wb_arithmetic_##isa, &wb_chains_##isa, &wb_comparison_##isa, &wb_bits_##isa, &wb_casts_##isa,          \
        &wb_narrow_##isa, &wb_complex_##isa, &wb_reductions_##isa, &wb_products_##isa, &wb_functions_baseline, \
        nullptr};

extern "C" const wb_table wb_functions_baseline;
WB_DECLARE(baseline)
#ifdef WB_X86
WB_DECLARE(avx2)
WB_DECLARE(avx512)
#endif

namespace {

struct Choice {
    const char* name;
    const wb_table** tables;
    bool supported;
};

}  // namespace

// forced: null or empty for the best one; otherwise a name, and null comes back if it is unknown or unsupported.
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
