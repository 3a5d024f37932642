// The caches that shape_cache_bench compares. All maps hold the same key inline (rank, dtype, dims up to rank 8), hash and
// compare only the dims that are there, and give a 32-bit id.
#pragma once

#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
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

// What the maps hold, with the overhead of malloc: memory that is freed and used again would hide from the process's size.
inline std::size_t held_bytes = 0;
template <class T> struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U> Counting(const Counting<U>&) {}
    static std::size_t size(void* p) { return malloc_usable_size(p) + sizeof(std::size_t); }
    T* allocate(std::size_t n) {
        void* const p = std::malloc(n * sizeof(T));
        if (p == nullptr) throw std::bad_alloc();
        held_bytes += size(p);
        return static_cast<T*>(p);
    }
    void deallocate(T* p, std::size_t) {
        held_bytes -= size(p);
        std::free(p);
    }
    template <class U> bool operator==(const Counting<U>&) const { return true; }
    template <class U> bool operator!=(const Counting<U>&) const { return false; }
};
using Item = Counting<std::pair<const MapKey, std::uint32_t>>;

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
    boost::concurrent_flat_map<MapKey, std::uint32_t, FoldHash, std::equal_to<MapKey>, Item> map;
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
