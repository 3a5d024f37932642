/* Numbers below the normal range of float32 and float64 are kept, as in IEEE 754, or treated as zero in operands and
 * results of operations, which is faster on some processors. The processor has a switch for each thread. Moves of bits,
 * changes of sign and conversions of float16 do not depend on it.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, sections 10.2.3.3 and 10.2.3.4 (FTZ
 * and DAZ of MXCSR); Arm Architecture Reference Manual, FPCR.FZ. */
#ifndef WB_SUBNORMALS_H
#define WB_SUBNORMALS_H

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#define WB_CAN_FLUSH 1
#define WB_FLUSH_BITS 0x8040u
static inline int wb_flushes(void) { return (_mm_getcsr() & WB_FLUSH_BITS) == WB_FLUSH_BITS; }
static inline void wb_write_flush(int on) {
    unsigned int rest = _mm_getcsr() & ~WB_FLUSH_BITS;
    _mm_setcsr(on ? rest | WB_FLUSH_BITS : rest);
}
/* only one of the two bits, as other code may have set it, is a third state */
static inline int wb_flush_state(void) { return (int)(_mm_getcsr() & WB_FLUSH_BITS); }
static inline void wb_restore_flush(int state) { _mm_setcsr((_mm_getcsr() & ~WB_FLUSH_BITS) | (unsigned int)state); }
#elif defined(__aarch64__)
#include <stdint.h>
#define WB_CAN_FLUSH 1
#define WB_FLUSH_BITS (1ull << 24)
static inline uint64_t wb_fpcr(void) {
    uint64_t found;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(found));
    return found;
}
static inline void wb_write_flush(int on) {
    uint64_t rest = wb_fpcr() & ~WB_FLUSH_BITS;
    __asm__ __volatile__("msr fpcr, %0" : : "r"(on ? rest | WB_FLUSH_BITS : rest));
}
static inline int wb_flushes(void) { return (wb_fpcr() & WB_FLUSH_BITS) != 0; }
static inline int wb_flush_state(void) { return wb_flushes(); }
static inline void wb_restore_flush(int state) { wb_write_flush(state); }
#else
#define WB_CAN_FLUSH 0
static inline int wb_flushes(void) { return 0; }
static inline void wb_write_flush(int on) { (void)on; }
static inline int wb_flush_state(void) { return 0; }
static inline void wb_restore_flush(int state) { (void)state; }
#endif

/* Set the switch of this thread; the result is for wb_restore_flush. A switch that is already set is only read. */
static inline int wb_set_flush(int on) {
    int before = wb_flush_state();
    if (wb_flushes() != on || (!on && before)) wb_write_flush(on);
    return before;
}

#endif
