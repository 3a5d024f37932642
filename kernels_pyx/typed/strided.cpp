// The strided path of all element-wise kernels: operands that are not contiguous are gathered block by block into
// buffers in the first-level cache, the contiguous kernel runs there, and the result is scattered. One copy of this
// code serves all ops and types, so that an instance has only its contiguous loops.

#include "table.hpp"

#include <cstdint>
#include <cstring>

namespace {

constexpr ptrdiff_t BLOCK = 256;
constexpr int WIDEST = 16;

template <int Size> void gather(char* to, const char* from, ptrdiff_t step, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++, from += step) std::memcpy(to + i * Size, from, Size);
}
template <int Size> void scatter(char* to, ptrdiff_t step, const char* from, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++, to += step) std::memcpy(to, from + i * Size, Size);
}

void gather_any(int size, char* to, const char* from, ptrdiff_t step, ptrdiff_t n) {
    switch (size) {
        case 1: return gather<1>(to, from, step, n);
        case 2: return gather<2>(to, from, step, n);
        case 4: return gather<4>(to, from, step, n);
        case 8: return gather<8>(to, from, step, n);
        default: return gather<16>(to, from, step, n);
    }
}
void scatter_any(int size, char* to, ptrdiff_t step, const char* from, ptrdiff_t n) {
    switch (size) {
        case 1: return scatter<1>(to, step, from, n);
        case 2: return scatter<2>(to, step, from, n);
        case 4: return scatter<4>(to, step, from, n);
        case 8: return scatter<8>(to, step, from, n);
        default: return scatter<16>(to, step, from, n);
    }
}

// Vectorized loops may assume that items are at multiples of their size; for complex numbers, of the size of their
// parts.
bool aligned(const char* p, int size) {
    const int needed = size > 8 ? 8 : size;
    return (reinterpret_cast<std::uintptr_t>(p) & std::uintptr_t(needed - 1)) == 0;
}

}  // namespace

extern "C" void wb_run_strided(const wb_plan* plan, char** args, const ptrdiff_t* dims, const ptrdiff_t* steps) {
    const ptrdiff_t n = dims[0];
    const int inputs = plan->inputs;
    bool direct[4], single[4];
    bool whole = true;
    for (int k = 0; k <= inputs; k++) {
        single[k] = steps[k] == 0 && k < inputs;
        direct[k] = (steps[k] == plan->sizes[k] || n == 1) && aligned(args[k], plan->sizes[k]);
        whole = whole && direct[k];
    }
    if (n <= 0) return;
    char* out = args[inputs];
    const char* a = args[0];
    const char* b = inputs > 1 ? args[1] : nullptr;
    const char* c = inputs > 2 ? args[2] : nullptr;
    if (whole) return plan->vv(out, a, b, c, n);
    if (inputs == 2 && direct[2]) {
        if (direct[0] && single[1] && aligned(b, plan->sizes[1])) return plan->vs(out, a, b, nullptr, n);
        if (direct[1] && single[0] && aligned(a, plan->sizes[0])) return plan->sv(out, a, b, nullptr, n);
    }
    alignas(64) char buffers[4][BLOCK * WIDEST];
    for (int k = 0; k < inputs; k++)
        if (single[k]) gather_any(plan->sizes[k], buffers[k], args[k], 0, n < BLOCK ? n : BLOCK);
    for (ptrdiff_t done = 0; done < n; done += BLOCK) {
        const ptrdiff_t m = n - done < BLOCK ? n - done : BLOCK;
        const char* in[3] = {nullptr, nullptr, nullptr};
        for (int k = 0; k < inputs; k++) {
            const char* from = args[k] + done * steps[k];
            in[k] = direct[k] ? from : buffers[k];
            if (!direct[k] && !single[k]) gather_any(plan->sizes[k], buffers[k], from, steps[k], m);
        }
        char* to = direct[inputs] ? out + done * steps[inputs] : buffers[inputs];
        plan->vv(to, in[0], in[1], in[2], m);
        if (!direct[inputs]) scatter_any(plan->sizes[inputs], out + done * steps[inputs], steps[inputs], to, m);
    }
}

extern "C" void wb_run_repeated(const wb_plan* plan, int which, char* out, const char* a, const char* b, ptrdiff_t n) {
    alignas(64) char buffer[BLOCK * WIDEST];
    gather_any(plan->sizes[which], buffer, which ? b : a, 0, n < BLOCK ? n : BLOCK);
    for (ptrdiff_t done = 0; done < n; done += BLOCK) {
        const ptrdiff_t m = n - done < BLOCK ? n - done : BLOCK;
        const char* left = which ? a + done * plan->sizes[0] : buffer;
        const char* right = which ? buffer : b + done * plan->sizes[1];
        plan->vv(out + done * plan->sizes[2], left, right, nullptr, m);
    }
}
