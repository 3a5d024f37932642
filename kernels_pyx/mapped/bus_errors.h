/* Mapped files truncated by another program: an access to a page that the file no longer has is a SIGBUS, which would
 * end the process. The handler here maps zeros in place of the missing pages, records that the map is lost, and lets
 * the access continue; readers check afterwards. Faults outside the maps go to the previous handler.
 *
 * A slot is claimed by one thread, filled, and then made visible by its end; the handler only loads and stores atomics
 * and calls mmap, which is a plain system call. */
#ifndef WB_BUS_ERRORS_H
#define WB_BUS_ERRORS_H

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define WB_MAPS 4096

typedef struct {
    atomic_int claimed;
    atomic_int lost;
    atomic_uintptr_t begin;
    atomic_uintptr_t end; /* 0: not in use */
} wb_map;

static wb_map wb_maps[WB_MAPS];
static struct sigaction wb_before;
static uintptr_t wb_page;

static int wb_replaced(uintptr_t at) {
    for (int slot = 0; slot < WB_MAPS; slot++) {
        uintptr_t end = atomic_load(&wb_maps[slot].end);
        if (end == 0 || at >= end || at < atomic_load(&wb_maps[slot].begin)) continue;
        uintptr_t page = at & ~(wb_page - 1);
        uintptr_t whole = (end + wb_page - 1) & ~(wb_page - 1);
        atomic_store(&wb_maps[slot].lost, 1);
        return mmap((void *)page, whole - page, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    }
    return 0;
}

static void wb_on_bus_error(int number, siginfo_t *info, void *context) {
    int kept = errno;
    /* a code above 0: a fault of this process, not a signal sent by another */
    if (info->si_code > 0 && wb_replaced((uintptr_t)info->si_addr)) {
        errno = kept;
        return;
    }
    if (wb_before.sa_flags & SA_SIGINFO) {
        wb_before.sa_sigaction(number, info, context);
    } else if (wb_before.sa_handler != SIG_DFL && wb_before.sa_handler != SIG_IGN) {
        wb_before.sa_handler(number);
    } else {
        signal(number, SIG_DFL); /* the access is repeated and ends the process; so does a signal that was sent */
        if (info->si_code <= 0) raise(number);
    }
    errno = kept;
}

/* Installs the handler before any that was set since. */
static int wb_listen(void) {
    struct sigaction now, ours;
    if (wb_page == 0) wb_page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &now) != 0) return 0;
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == wb_on_bus_error) return 1;
    wb_before = now;
    ours.sa_sigaction = wb_on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    return sigaction(SIGBUS, &ours, NULL) == 0;
}

/* The slot of a map, or -1 if none is free or no handler can be installed. */
static int wb_guard(uintptr_t begin, uintptr_t length) {
    if (length == 0 || !wb_listen()) return -1;
    for (int slot = 0; slot < WB_MAPS; slot++) {
        int free_slot = 0;
        if (!atomic_compare_exchange_strong(&wb_maps[slot].claimed, &free_slot, 1)) continue;
        atomic_store(&wb_maps[slot].lost, 0);
        atomic_store(&wb_maps[slot].begin, begin);
        atomic_store(&wb_maps[slot].end, begin + length);
        return slot;
    }
    return -1;
}

static int wb_lost(int slot) { return atomic_load(&wb_maps[slot].lost); }

static void wb_release(int slot) {
    atomic_store(&wb_maps[slot].end, 0);
    atomic_store(&wb_maps[slot].claimed, 0);
}

#endif
