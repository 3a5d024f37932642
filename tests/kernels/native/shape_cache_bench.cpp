// The shape trie against hash maps: nanoseconds a lookup (all hit), bytes a shape, churn under readers.
//
//   shape_cache_bench [SHAPES [ROUNDS]]     prints one line a measurement: name case value
//
// All maps hold the same key inline (rank, dtype, dims up to rank 8), hash and compare only the dims that are there, and give a
// 32-bit id. Rounds are interleaved in this one process; the smallest time counts.
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "shapes.hpp"
#include "trie.hpp"

#if __has_include(<absl/container/flat_hash_map.h>)
#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>
#define HAVE_ABSL 1
#endif
#if __has_include(<boost/unordered/concurrent_flat_map.hpp>)
#include <boost/unordered/concurrent_flat_map.hpp>
#define HAVE_BOOST 1
#endif

using shapes::Shape;
namespace wt = workbench::trie;
using clock_type = std::chrono::steady_clock;

struct MapKey {
    std::int32_t rank, dtype;
    std::int64_t dims[8];
    explicit MapKey(const Shape& s) : rank(s.rank), dtype(s.dtype) { std::memcpy(dims, s.dims, sizeof dims); }
    bool operator==(const MapKey& o) const {
        return rank == o.rank && dtype == o.dtype && std::memcmp(dims, o.dims, 8 * static_cast<std::size_t>(rank)) == 0;
    }
#ifdef HAVE_ABSL
    template <class H> friend H AbslHashValue(H h, const MapKey& k) {
        return H::combine(H::combine_contiguous(std::move(h), k.dims, static_cast<std::size_t>(k.rank)), k.rank, k.dtype);
    }
#endif
};

struct FoldHash {
    std::size_t operator()(const MapKey& k) const {
        std::uint64_t h = wt::fold(static_cast<std::uint64_t>(k.rank) << 32 | static_cast<std::uint32_t>(k.dtype), 0x9E3779B97F4A7C15ull);
        for (int i = 0; i < k.rank; ++i) h = wt::fold(h ^ static_cast<std::uint64_t>(k.dims[i]), 0x9E3779B97F4A7C15ull);
        return h;
    }
};

struct Cache {
    virtual ~Cache() = default;
    virtual std::uint32_t look(const Shape&) = 0;
    virtual void put(const Shape&, std::uint32_t) = 0;
    virtual void drop(const Shape&) = 0;
    virtual std::uint64_t run(const Shape* all, const std::uint32_t* which, std::size_t n) = 0;
};

// The loop is instantiated with each cache, so that no virtual call is measured.
template <class C> struct Loop : Cache {
    std::uint64_t run(const Shape* all, const std::uint32_t* which, std::size_t n) final {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<C*>(this)->C::look(all[which[i]]) != 0;
        return sum;
    }
};

template <class Map> struct Locked final : Loop<Locked<Map>> {
    Map map;
    std::mutex mutex;
    std::uint32_t look(const Shape& s) override {
        const MapKey key(s);
        const std::lock_guard<std::mutex> hold(mutex);
        const auto it = map.find(key);
        return it == map.end() ? 0 : it->second;
    }
    void put(const Shape& s, std::uint32_t id) override {
        const std::lock_guard<std::mutex> hold(mutex);
        map.emplace(MapKey(s), id);
    }
    void drop(const Shape& s) override {
        const std::lock_guard<std::mutex> hold(mutex);
        map.erase(MapKey(s));
    }
};

#ifdef HAVE_BOOST
struct Boost final : Loop<Boost> {
    boost::concurrent_flat_map<MapKey, std::uint32_t, FoldHash> map;
    std::uint32_t look(const Shape& s) override {
        std::uint32_t id = 0;
        map.cvisit(MapKey(s), [&](const auto& item) { id = item.second; });
        return id;
    }
    void put(const Shape& s, std::uint32_t id) override { map.emplace(MapKey(s), id); }
    void drop(const Shape& s) override { map.erase(MapKey(s)); }
};
#endif

struct TrieCache final : Loop<TrieCache> {
    wt::Trie trie;
    std::uint32_t look(const Shape& s) override {
        return trie.lookup_shape(s.rank, s.dims, wt::make_meta(s.dtype, false, false, 0));
    }
    void put(const Shape& s, std::uint32_t) override {
        trie.intern_shape(s.rank, s.dims, wt::make_meta(s.dtype, false, false, 0));
    }
    void drop(const Shape& s) override {
        trie.release(look(s));
    }
};

// The trie, looking eight keys ahead: what a caller with many shapes at hand can have. Not the figure that is compared.
struct TrieBatch final : Cache {
    TrieCache& one;
    explicit TrieBatch(TrieCache& c) : one(c) {}
    std::uint32_t look(const Shape& s) override { return one.look(s); }
    void put(const Shape& s, std::uint32_t id) override { one.put(s, id); }
    void drop(const Shape& s) override { one.drop(s); }
    std::uint64_t run(const Shape* all, const std::uint32_t* which, std::size_t n) override {
        std::uint64_t sum = 0;
        wt::Key keys[8];
        for (std::size_t i = 0; i + 8 <= n; i += 8) {
            for (int j = 0; j < 8; ++j) {
                const Shape& s = all[which[i + j]];
                wt::encode(keys[j], s.rank, s.dims, nullptr, wt::make_meta(s.dtype, false, false, 0));
                one.trie.fetch_slots(keys[j]);
            }
            for (int j = 0; j < 8; ++j) one.trie.fetch_objects(keys[j]);
            for (int j = 0; j < 8; ++j) sum += one.trie.lookup(keys[j]) != 0;
        }
        return sum;
    }
};

static std::size_t resident() {
    std::size_t size = 0, pages = 0;
    if (FILE* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%zu %zu", &size, &pages) != 2) pages = 0;
        std::fclose(f);
    }
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Nanoseconds a lookup, of all threads together. The lookups go in slices, and of each the fastest round counts: on a machine
// with other work few rounds are undisturbed as a whole.
constexpr std::size_t SLICES = 16;
static void measure(Cache& cache, const std::vector<Shape>& all, const std::vector<std::uint32_t> (&which)[2], int threads, double* best) {
    const std::size_t n = which[0].size() / SLICES;
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(threads));
    double took[2][SLICES] = {};
    const auto work = [&](int t) {
        for (std::size_t s = 0; s < SLICES; ++s) {
            pthread_barrier_wait(&barrier);
            const auto began = clock_type::now();
            const std::uint64_t found = cache.run(all.data(), which[t].data() + s * n, n);
            took[t][s] = std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
            if (found != n) { std::printf("error: %llu of %zu found\n", static_cast<unsigned long long>(found), n); std::exit(1); }
        }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (auto& t : others) t.join();
    pthread_barrier_destroy(&barrier);
    for (std::size_t s = 0; s < SLICES; ++s)
        best[s] = std::min(best[s], std::max(took[0][s], took[1][s]) / static_cast<double>(n) / threads);
}
static double mean(const std::vector<double>& slices) {
    double sum = 0;
    for (double s : slices) sum += s;
    return sum / static_cast<double>(slices.size());
}

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    const std::size_t lookups = 1 << 18;
    std::vector<Shape> all = shapes::make(count);
    const std::vector<Shape> more = [&] {              // for churn: shapes that are not in `all`
        std::vector<Shape> big = shapes::make(count + 4096);
        return std::vector<Shape>(big.begin() + static_cast<std::ptrdiff_t>(count), big.end());
    }();

    std::vector<std::pair<std::string, std::unique_ptr<Cache>>> caches;
    const auto add = [&](const char* name, auto make) {
        const std::size_t before = resident();
        std::unique_ptr<Cache> cache = make();
        for (std::size_t i = 0; i < all.size(); ++i) cache->put(all[i], static_cast<std::uint32_t>(i + 1));
        std::printf("%s bytes %.1f\n", name, static_cast<double>(resident() - before) / static_cast<double>(count));
        caches.emplace_back(name, std::move(cache));
    };
    add("unordered_map+mutex", [] { return std::make_unique<Locked<std::unordered_map<MapKey, std::uint32_t, FoldHash>>>(); });
#ifdef HAVE_ABSL
    add("absl+mutex", [] { return std::make_unique<Locked<absl::flat_hash_map<MapKey, std::uint32_t>>>(); });
    add("absl(fold-hash)+mutex", [] { return std::make_unique<Locked<absl::flat_hash_map<MapKey, std::uint32_t, FoldHash>>>(); });
#endif
#ifdef HAVE_BOOST
    add("boost", [] { return std::make_unique<Boost>(); });
#endif
    add("trie", [] { return std::make_unique<TrieCache>(); });
    auto& trie = static_cast<TrieCache&>(*caches.back().second);
    const wt::Stats stats = trie.trie.stats();
    std::printf("trie counted-bytes %.1f\n", static_cast<double>(stats.bytes) / static_cast<double>(count));
    std::printf("trie nodes-a-shape %.3f\n", static_cast<double>(stats.nodes) / static_cast<double>(count));
    caches.emplace_back("trie-batch-of-8", std::make_unique<TrieBatch>(trie));

    for (const bool zipf : {false, true}) {
        const std::vector<std::uint32_t> which[2] = {shapes::draw(count, lookups, zipf, 7), shapes::draw(count, lookups, zipf, 8)};
        for (const int threads : {1, 2}) {
            std::vector<std::vector<double>> best(caches.size(), std::vector<double>(SLICES, 1e9));
            for (int r = 0; r < rounds; ++r)
                for (std::size_t c = 0; c < caches.size(); ++c)
                    measure(*caches[c].second, all, which, threads, best[c].data());
            for (std::size_t c = 0; c < caches.size(); ++c)
                std::printf("%s %s-%d %.2f\n", caches[c].first.c_str(), zipf ? "zipf" : "uniform", threads, mean(best[c]));
        }
    }
    // One thread inserts and drops other shapes, one reads: nanoseconds an insert with its drop, and a lookup meanwhile.
    const std::vector<std::uint32_t> which = shapes::draw(count, lookups, false, 9);
    std::vector<double> writes(caches.size(), 1e9), reads(caches.size(), 1e9);
    for (int r = 0; r < rounds; ++r)
        for (std::size_t c = 0; c + 1 < caches.size(); ++c) {
            Cache& cache = *caches[c].second;
            bool stop = false;
            std::size_t done = 0;
            double wrote = 0;
            std::thread writer([&] {
                const auto began = clock_type::now();
                while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
                    for (std::size_t i = 0; i < 512; ++i) cache.put(more[(done + i) % more.size()], 7);
                    for (std::size_t i = 0; i < 512; ++i) cache.drop(more[(done + i) % more.size()]);
                    done += 512;
                }
                wrote = std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
            });
            const auto began = clock_type::now();
            const std::uint64_t found = cache.run(all.data(), which.data(), which.size());
            const double read = std::chrono::duration<double, std::nano>(clock_type::now() - began).count();
            __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
            writer.join();
            if (found != which.size()) { std::printf("error: lost shapes under churn\n"); return 1; }
            writes[c] = std::min(writes[c], wrote / static_cast<double>(done));
            reads[c] = std::min(reads[c], read / static_cast<double>(which.size()));
        }
    for (std::size_t c = 0; c + 1 < caches.size(); ++c) {
        std::printf("%s churn-write %.2f\n", caches[c].first.c_str(), writes[c]);
        std::printf("%s churn-read %.2f\n", caches[c].first.c_str(), reads[c]);
    }
    if (const int fault = trie.trie.check()) { std::printf("error: rule %d is broken\n", fault); return 1; }
    return 0;
}
