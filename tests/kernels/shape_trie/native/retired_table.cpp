// A reader falls asleep on a leaf table that is retired, and wakes while the table is being filled for the same stripe again.
//
// Prints "found" if the lookup of a shape that is held all the while gives its id, else an error.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static void at_step(const char* place, const void* table);
#define WORKBENCH_TRIE_STEP(place, what) at_step(#place, what)
#include "trie.hpp"

namespace wt = workbench::trie;

// What the two threads have done so far, in this order.
enum Stage { BEGIN, ASLEEP, TABLE_IS_BACK, SAW_NOTHING, TABLE_IN_USE };
static std::atomic<int> stage{BEGIN};
static std::atomic<const void*> table{nullptr};
static thread_local bool reads = false;

static void reach(int to) { stage = to; }
static void wait_for(int wanted) {
    while (stage < wanted) std::this_thread::yield();
}

static void at_step(const char* place, const void* what) {
    if (reads && std::strcmp(place, "word_read") == 0 && stage == BEGIN) {
        table = what;
        reach(ASLEEP);
        wait_for(TABLE_IS_BACK);
    } else if (reads && std::strcmp(place, "empty_seen") == 0 && stage == TABLE_IS_BACK) {
        reach(SAW_NOTHING);
        wait_for(TABLE_IN_USE);
    } else if (!reads && std::strcmp(place, "table_taken") == 0 && stage == ASLEEP && what == table) {
        reach(TABLE_IS_BACK);
        wait_for(SAW_NOTHING);
    }
}

static wt::Key key_of(std::int64_t k) {
    const std::int64_t dims[4] = {4, 5, k, 7};     // one stripe for all
    wt::Key key;
    wt::encode(key, 4, dims, nullptr, 0);
    return key;
}

int main() {
    wt::Trie trie;
    const wt::u32 held = trie.intern(key_of(1));
    for (std::int64_t k = 2; k < 8; ++k) trie.intern(key_of(k));
    wt::u32 seen = 0;
    std::thread reader([&] {
        reads = true;
        seen = trie.lookup(key_of(1));
    });
    wait_for(ASLEEP);
    for (int round = 0; round < 1000 && stage < SAW_NOTHING; ++round) {
        std::vector<wt::u32> ids;
        for (std::int64_t k = 100; k < 140; ++k) ids.push_back(trie.intern(key_of(k)));
        for (const wt::u32 id : ids) trie.release(id);
    }
    const bool met = stage == SAW_NOTHING;
    reach(TABLE_IN_USE);
    reader.join();
    if (!met) return std::printf("error: the table was not used again\n"), 1;
    if (seen != held) return std::printf("error: a shape that is held has id %u, and %u was found\n", held, seen), 1;
    std::printf("found\n");
    return 0;
}
