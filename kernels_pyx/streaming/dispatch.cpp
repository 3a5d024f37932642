// Selection of a compiled instruction set at load; small operations of the state.
#include "evolution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WB_DECLARE(ISA)                                                              \
    namespace ISA {                                                                  \
    void feed(WbScalar*, const char*, int, int64_t, int64_t);                        \
    void pass(const char*, char*, int, int64_t, int, WbPass*);                       \
    void moved(const char*, const char*, int, int64_t, double*);                     \
    void scan(const char*, int, int64_t, WbTensorRow*);                              \
    }
WB_DECLARE(baseline)
#ifdef WB_X86
WB_DECLARE(avx2)
WB_DECLARE(avx512)
#endif

namespace {

struct Chosen {
    const char* name;
    decltype(&baseline::feed) feed;
    decltype(&baseline::pass) pass;
    decltype(&baseline::moved) moved;
    decltype(&baseline::scan) scan;
};

Chosen choose() {
#ifdef WB_X86
    const char* wanted = getenv("WORKBENCH_ISA");  // as for the typed kernels, which refuse unknown names
    const auto asked = [&](const char* name) { return wanted == NULL || *wanted == 0 || strcmp(wanted, name) == 0; };
    __builtin_cpu_init();
    const bool two = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                     __builtin_cpu_supports("f16c");
    if (two && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && asked("avx512"))
        return {"avx512", avx512::feed, avx512::pass, avx512::moved, avx512::scan};
    if (two && asked("avx2")) return {"avx2", avx2::feed, avx2::pass, avx2::moved, avx2::scan};
    return {"x86-64", baseline::feed, baseline::pass, baseline::moved, baseline::scan};
#else
    return {"portable", baseline::feed, baseline::pass, baseline::moved, baseline::scan};
#endif
}

const Chosen chosen = choose();

}  // namespace

extern "C" {

void wb_clear(WbScalar* s) {
    memset(s, 0, sizeof *s);
    s->first_nan = s->first_inf = s->approached = -1;
    s->block_size = s->stride = s->power = 1;
    s->low = s->min_d = INFINITY;
    s->high = -INFINITY;
}

void wb_skip(WbScalar* s, int64_t count) {
    s->skipped += count;
    s->since = s->n;
    s->longest_const = s->const_run > s->longest_const ? s->const_run : s->longest_const;
    s->const_run = s->mono_run = s->alt_run = s->mono_sign = 0;
    s->candidate = s->candidate_run = 0;
}

void wb_feed(WbScalar* s, const char* data, int type, int64_t count, int64_t stride) {
    chosen.feed(s, data, type, count, stride);
}

void wb_pass(const char* now, char* before, int type, int64_t n, int compare, WbPass* out) {
    chosen.pass(now, before, type, n, compare, out);
}

void wb_moved(const char* now, const char* before, int type, int64_t n, double* moved) {
    chosen.moved(now, before, type, n, moved);
}

void wb_scan(const char* data, int type, int64_t n, WbTensorRow* out) { chosen.scan(data, type, n, out); }

const char* wb_evolution_isa(void) { return chosen.name; }
}
