// Tables of addresses that every unit passes to the module, and declarations shared by the strided kernels. There is no
// code here, so this header means the same in every instruction set.
#pragma once

#include <cstddef>

extern "C" {

typedef void (*wb_kernel)(char* out, const char* a, const char* b, const char* c, ptrdiff_t n);
typedef void (*wb_scalar)(char* out, const char* a, const char* b, const char* c);
typedef void (*wb_strided)(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);
typedef void (*wb_reduce)(char* out, const char* in, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
typedef void (*wb_matmul)(char* out, const char* a, const char* b, ptrdiff_t m, ptrdiff_t k, ptrdiff_t n);
typedef void (*wb_statistics)(const char* a, ptrdiff_t n, double* out);
typedef void (*wb_of_op)(char* out, const char* a, const char* b, ptrdiff_t n, double* numbers);

// name is "op input ... output"; missing addresses are null.
struct wb_row {
    const char* name;
    wb_scalar scalar;
    wb_kernel vv, vs, sv;
    wb_strided strided;
};
struct wb_reduce_row {
    const char* name;
    wb_reduce call;
};
struct wb_matmul_row {
    const char* name;
    wb_matmul call;
};
struct wb_statistics_row {
    const char* name;
    wb_statistics call;
    const wb_of_op* of_ops;  // add, subtract, multiply, divide: vv, vs, sv of each; or null
};
struct wb_table {
    const wb_row* rows;
    const wb_reduce_row* reductions;
    const wb_matmul_row* products;
    const wb_statistics_row* statistics;
};

// Calls of the contiguous kernels of one op by its strided ones.
struct wb_plan {
    wb_kernel vv, vs, sv;
    int inputs;
    int sizes[4];  // bytes of an item: inputs, then the output
};
void wb_run_strided(const wb_plan* plan, char** args, const ptrdiff_t* dims, const ptrdiff_t* steps);
// One operand is a single item: it is repeated into a buffer, and the contiguous kernel runs block by block.
void wb_run_repeated(const wb_plan* plan, int which, char* out, const char* a, const char* b, ptrdiff_t n);
}
