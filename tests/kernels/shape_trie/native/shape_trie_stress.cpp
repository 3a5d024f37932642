// Threads against one trie, to be run under the sanitizers and alone.
//
//   shape_trie_stress [SECONDS [THREADS]]          churn on a small set of shapes; every id that is held must say its shape
//   shape_trie_stress history SEED THREADS OPS COUNT     short concurrent histories, for the linearizability check
//
// A history line: thread op key result begin end. Keys share prefixes, so that splits and reclaiming meet.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "pace.hpp"
#include "summary.hpp"

namespace wt = workbench::trie;

static wt::Key key_of(unsigned k) {
    // ranks 2 to 5 with few first dims: deep sharing, many splits; some strided, some wide
    std::int64_t dims[6] = {1 + k % 2, 2 + k / 2 % 2, 3 + k / 4 % 3, 5 + k / 12 % 4, 7 + k / 48 % 3, 1};
    std::int64_t strides[6] = {8, -16, 24, 32, 40, 48};
    const int rank = 2 + static_cast<int>(k % 4);
    if (k % 11 == 0) dims[1] += std::int64_t(1) << 33;
    const bool strided = k % 7 == 0;
    wt::Key key;
    wt::encode(key, rank, dims, strided ? strides : nullptr, wt::make_meta(static_cast<int>(k / 16 % 3), false, strided, k % 5));
    return key;
}

static bool equal(const wt::Key& a, const wt::Key& b) {
    if (a.root != b.root || a.words != b.words) return false;
    for (wt::u32 i = 0; i < a.words; ++i)
        if (a.word(i) != b.word(i)) return false;
    return true;
}

static std::atomic<bool> failed{false};
static void fail(const char* what, unsigned k) {
    if (!failed.exchange(true)) std::printf("error: %s (key %u)\n", what, k);
}

static void churn(wt::Trie& trie, unsigned seed, const std::atomic<bool>& stop) {
    std::mt19937 random(seed);
    struct Held { wt::u32 id; unsigned k; };
    std::vector<Held> held;
    constexpr unsigned KEYS = 600;
    while (!stop && !failed) {
        for (int round = 0; round < 200; ++round) {
            const unsigned k = random() % KEYS;
            const wt::Key key = key_of(k);
            wt::Key back;
            switch (random() % 8) {
            case 0: case 1: case 2: {
                const wt::u32 id = trie.intern(key);
                if (id == 0) return fail("no memory", k);
                if (trie.lookup(key) != id) fail("a shape that is held has another id, or none", k);
                if (!trie.get(id, back) || !equal(key, back)) fail("a held id says another shape", k);
                held.push_back({id, k});
                break;
            }
            case 3: case 4: case 5:
                if (!held.empty()) {
                    const std::size_t i = random() % held.size();
                    const Held h = held[i];
                    const wt::Key mine = key_of(h.k);
                    if (trie.lookup(mine) != h.id) fail("a held shape is not found", h.k);
                    if (trie.refcount(h.id) < 1) fail("a held shape has no references", h.k);
                    if (!trie.get(h.id, back) || !equal(mine, back)) fail("a held id says another shape", h.k);
                    if (trie.release(h.id) == wt::Trie::Released::no_such_id) fail("a held id is unknown", h.k);
                    held[i] = held.back();
                    held.pop_back();
                }
                break;
            case 6: {
                const wt::u32 id = trie.lookup(key);
                if (id != 0 && trie.get(id, back) && !equal(key, back)) {
                    // the id may have been released and used again meanwhile, but not while the shape still has it
                    if (trie.lookup(key) == id) fail("an id and its shape disagree", k);
                }
                break;
            }
            default:
                if (random() % 64 == 0) {
                    wt::Buffer<wt::u32> ids;
                    const std::int64_t first[2] = {1 + static_cast<std::int64_t>(k % 2), 2};
                    trie.prefix(static_cast<int>(random() % 3), first, 1000, ids);
                    wt::Buffer<wt::Line> lines;
                    wt::summarise(trie, 50, 8, lines);
                } else {
                    trie.refcount(random());   // any number is safe to ask about
                    trie.get(random(), back);
                }
            }
            while (held.size() > 300) {
                trie.release(held.back().id);
                held.pop_back();
            }
        }
    }
    for (const Held& h : held)
        if (trie.release(h.id) == wt::Trie::Released::no_such_id) fail("a held id is unknown at the end", h.k);
}

// One thread grows and empties the trie by fresh shapes, so that tables grow and shrink under the readers.
static void grow(wt::Trie& trie, unsigned seed, const std::atomic<bool>& stop) {
    std::vector<wt::u32> ids;
    std::int64_t next = 1000 + static_cast<std::int64_t>(seed) * 1000000;
    while (!stop && !failed) {
        for (int i = 0; i < 3000; ++i, ++next) {
            const std::int64_t dims[3] = {next % 50, next / 50, 3};
            ids.push_back(trie.intern_shape(3, dims, 0));
            if (trie.lookup_shape(3, dims, 0) != ids.back()) fail("a fresh shape is not found", 0);
        }
        for (const wt::u32 id : ids)
            if (trie.release(id) == wt::Trie::Released::no_such_id) fail("a fresh id is unknown", 0);
        ids.clear();
    }
}

static int stress(wt::u64 capacity, double seconds, int threads) {
    wt::Trie trie(capacity);
    std::atomic<bool> stop{false};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            if (t + 1 == threads) grow(trie, static_cast<unsigned>(t), stop);
            else churn(trie, static_cast<unsigned>(t) + 1, stop);
        });
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
    for (auto& t : all) t.join();
    const wt::Stats s = trie.stats();
    if (const int fault = trie.check()) return std::printf("error: rule %d is broken\n", fault), 1;
    if (capacity == 0 && (s.entries != 0 || s.nodes != 0)) return std::printf("error: %llu shapes are left\n", static_cast<unsigned long long>(s.entries)), 1;
    if (capacity != 0 && (s.entries > capacity || s.idle != s.entries)) return std::printf("error: %llu entries, %llu idle\n", static_cast<unsigned long long>(s.entries), static_cast<unsigned long long>(s.idle)), 1;
    std::printf("capacity %llu: %llu hits, %llu misses, %llu evictions, peak %llu\n", static_cast<unsigned long long>(capacity),
                static_cast<unsigned long long>(s.hits), static_cast<unsigned long long>(s.misses),
                static_cast<unsigned long long>(s.evictions), static_cast<unsigned long long>(s.peak_entries));
    return failed ? 1 : 0;
}

static void history(unsigned seed, int threads, int ops) {
    wt::Trie trie;
    std::atomic<int> ready{0};
    std::atomic<long> clock{0};
    struct Event { char op; unsigned key; long result, begin, end; };
    std::vector<std::vector<Event>> logs(static_cast<std::size_t>(threads));
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            std::mt19937 random(seed * 31 + static_cast<unsigned>(t));
            std::vector<std::pair<wt::u32, unsigned>> held;
            auto& log = logs[static_cast<std::size_t>(t)];
            log.reserve(static_cast<std::size_t>(ops));
            pace::own_processor(static_cast<std::size_t>(t));     // else a busy machine may run one after the other
            ++ready;
            while (ready != threads) {}
            for (int i = 0; i < ops; ++i) {
                // three keys that share a prefix, so that a split is under way as often as not
                const unsigned k = random() % 3;
                const std::int64_t dims[4] = {4, 5, 6 + (k == 2), 7 + (k == 1)};
                const unsigned what = random() % 3;
                Event e{'l', k, 0, 0, 0};
                if (what == 2 && !held.empty()) {
                    e.op = 'r';
                    e.key = held.back().second;
                    const wt::u32 id = held.back().first;
                    held.pop_back();
                    e.begin = clock++;
                    e.result = trie.release(id) != wt::Trie::Released::no_such_id;
                    e.end = clock++;
                } else if (what == 1) {
                    e.op = 'i';
                    e.begin = clock++;
                    e.result = trie.intern_shape(4, dims, 0);
                    e.end = clock++;
                    held.emplace_back(static_cast<wt::u32>(e.result), k);
                } else {
                    e.begin = clock++;
                    e.result = trie.lookup_shape(4, dims, 0);
                    e.end = clock++;
                }
                log.push_back(e);
            }
        });
    for (auto& t : all) t.join();
    std::printf("history %u\n", seed);
    for (int t = 0; t < threads; ++t)
        for (const Event& e : logs[static_cast<std::size_t>(t)]) std::printf("%d %c %u %ld %ld %ld\n", t, e.op, e.key, e.result, e.begin, e.end);
}

int main(int argc, char** argv) {
    if (argc == 6 && std::strcmp(argv[1], "history") == 0) {
        const unsigned first = static_cast<unsigned>(std::atoi(argv[2])), count = static_cast<unsigned>(std::atoi(argv[5]));
        for (unsigned s = first; s < first + count; ++s) history(s, std::atoi(argv[3]), std::atoi(argv[4]));
        return 0;
    }
    const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 4;
    return stress(0, seconds, threads) | stress(200, seconds, threads);
}
