// The shape trie against hash maps: nanoseconds a lookup (all hit), bytes a shape, churn under readers.
//
//   shape_cache_bench [SHAPES [ROUNDS]]     prints one line a measurement: name case value
//
// Contenders take turns in this one process, so that other work on the machine disturbs all alike; of each the best round
// counts. Two threads: throughput of both together, in one interval of wall-clock time (pace.hpp).
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "contenders.hpp"
#include "pace.hpp"

constexpr std::size_t LOOKUPS = 1 << 18, BATCH = 256;

static std::size_t resident() {
    std::size_t size = 0, pages = 0;
    if (FILE* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%zu %zu", &size, &pages) != 2) pages = 0;
        std::fclose(f);
    }
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

using Draw = std::vector<std::uint32_t>;
struct Contender {
    std::string name;
    std::unique_ptr<Cache> cache;
    std::size_t at[2] = {};                        // where its threads are in their draws
};

static pace::Job lookups(Contender& c, const std::vector<Shape>& all, const Draw& which, int thread) {
    return [&c, &all, &which, thread] {
        std::size_t& at = c.at[thread];
        if (at + BATCH > which.size()) at = 0;
        if (c.cache->run(all.data(), which.data() + at, BATCH) != BATCH) {
            std::printf("error: %s has lost shapes\n", c.name.c_str());
            std::exit(1);
        }
        at += BATCH;
        return BATCH;
    };
}

static void look(std::vector<Contender>& caches, const std::vector<Shape>& all, bool zipf, int threads, int rounds) {
    const Draw which[2] = {shapes::draw(all.size(), LOOKUPS, zipf, 7), shapes::draw(all.size(), LOOKUPS, zipf, 8)};
    std::vector<pace::Best> best(caches.size());
    for (int r = 0; r < rounds; ++r)
        for (std::size_t c = 0; c < caches.size(); ++c) {
            std::vector<pace::Job> jobs;
            for (int t = 0; t < threads; ++t) jobs.push_back(lookups(caches[c], all, which[t], t));
            const pace::Round round = pace::run(jobs);
            best[c].take(round.undisturbed, round.nanoseconds());
        }
    for (std::size_t c = 0; c < caches.size(); ++c) {
        const std::string name = caches[c].name + (zipf ? " zipf-" : " uniform-") + std::to_string(threads);
        std::printf("%s %.2f\n%s-rounds %d\n", name.c_str(), best[c].get(), name.c_str(), best[c].undisturbed);
    }
}

// One thread inserts and drops other shapes, one reads: nanoseconds an insert with its drop, and a lookup meanwhile.
static void churn(std::vector<Contender>& caches, const std::vector<Shape>& all, const std::vector<Shape>& more, int rounds) {
    const Draw which = shapes::draw(all.size(), LOOKUPS, false, 9);
    std::vector<pace::Best> reads(caches.size()), writes(caches.size());
    std::size_t next = 0;
    for (int r = 0; r < rounds; ++r)
        for (std::size_t c = 0; c < caches.size(); ++c) {
            const pace::Round round = pace::run({lookups(caches[c], all, which, 0), [&, c] {
                const Shape* const some = more.data() + (next += 64) % more.size();
                for (std::size_t i = 0; i < 64; ++i) caches[c].cache->put(some[i], 7);
                for (std::size_t i = 0; i < 64; ++i) caches[c].cache->drop(some[i]);
                return std::size_t(64);
            }});
            reads[c].take(round.undisturbed, round.nanoseconds(0));
            writes[c].take(round.undisturbed, round.nanoseconds(1));
        }
    for (std::size_t c = 0; c < caches.size(); ++c)
        std::printf("%s churn-read %.2f\n%s churn-write %.2f\n", caches[c].name.c_str(), reads[c].get(),
                    caches[c].name.c_str(), writes[c].get());
}

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 40;
    std::vector<Shape> all = shapes::make(count + 4096);
    const std::vector<Shape> more(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());      // for churn
    all.resize(count);

    std::vector<Contender> caches;
    const auto add = [&](const char* name, auto make) {
        const std::size_t before = held_bytes, resident_before = resident();
        std::unique_ptr<Cache> cache = make();
        for (std::size_t i = 0; i < all.size(); ++i) cache->put(all[i], static_cast<std::uint32_t>(i + 1));
        // The trie maps its memory itself and nobody frees any for it: there the growth of the process is the truth.
        const bool counted = held_bytes != before;
        const std::size_t bytes = counted ? held_bytes - before : resident() - resident_before;
        std::printf("%s bytes %.1f\n", name, static_cast<double>(bytes) / static_cast<double>(count));
        caches.push_back({name, std::move(cache), {}});
    };
    add("unordered_map+mutex", [] {
        return std::make_unique<Locked<std::unordered_map<MapKey, std::uint32_t, FoldHash, std::equal_to<MapKey>, Item>>>();
    });
#ifdef HAVE_ABSL
    using AbslHash = absl::Hash<MapKey>;
    add("absl+mutex", [] {
        return std::make_unique<Locked<absl::flat_hash_map<MapKey, std::uint32_t, AbslHash, std::equal_to<MapKey>, Item>>>();
    });
    add("absl(fold-hash)+mutex", [] {
        return std::make_unique<Locked<absl::flat_hash_map<MapKey, std::uint32_t, FoldHash, std::equal_to<MapKey>, Item>>>();
    });
#endif
#ifdef HAVE_BOOST
    add("boost", [] { return std::make_unique<Boost>(); });
#endif
    add("trie", [] { return std::make_unique<TrieCache>(); });
    auto& trie = static_cast<TrieCache&>(*caches.back().cache);
    const wt::Stats stats = trie.trie.stats();
    std::printf("trie counted-bytes %.1f\n", static_cast<double>(stats.bytes) / static_cast<double>(count));
    std::printf("trie nodes-a-shape %.3f\n", static_cast<double>(stats.nodes) / static_cast<double>(count));
    caches.push_back({"trie-batch-of-8", std::make_unique<TrieBatch>(trie), {}});

    for (const bool zipf : {false, true})
        for (const int threads : {1, 2}) look(caches, all, zipf, threads, rounds);
    caches.pop_back();
    churn(caches, all, more, rounds);
    if (const int fault = trie.trie.check()) {
        std::printf("error: rule %d is broken\n", fault);
        return 1;
    }
    return 0;
}
