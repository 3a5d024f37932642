// The sequential key of a shape: rank, dims, one word of dtype, order and flags, strides.
//
// A key is a string over 32-bit words, read two at a time: one symbol of the trie is 64 bits, so that the first edge
// carries two dims. The rank and the form choose the root and are not stored:
//
//   narrow   every dim < 2^32 and every stride within 32 bits: one word each        (all shapes in practice)
//   wide     otherwise: two words each, so a symbol is one dim of 64 bits
//
//   words    d0 d1 ... d(r-1)  meta  [s0 s1 ... s(r-1)]
//
// The strides follow the meta word, which says whether there are any: so no key is a prefix of another, and all records
// are leaves. Order C or F without strides means the contiguous layout of that order.
#pragma once

#include <cstdint>
#include <cstring>

namespace workbench::trie {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr int MAX_RANK = 64;                       // NumPy's own limit
constexpr int MAX_WORDS = 4 * MAX_RANK + 1;        // wide, strided
constexpr int MAX_LEVELS = (MAX_WORDS + 1) / 2;
constexpr int SHORT_RANK = 7;                      // keys of at most 8 words, which are compared at once
constexpr u32 ROOTS = 2 * (MAX_RANK + 1);          // rank * 2 + wide

// The meta word: flags 0..15, dtype code 16..27 (0: none, NumPy's type number + 1), order F 28, strided 29.
constexpr u32 META_F = 1u << 28, META_STRIDED = 1u << 29;
constexpr int MAX_DTYPE = 4094;                    // largest type number
constexpr u32 MAX_FLAGS = 0xFFFF;

inline u32 make_meta(int dtype, bool order_f, bool strided, u32 flags) {
    return (flags & MAX_FLAGS) | (static_cast<u32>(dtype + 1) & 0xFFFu) << 16 | (order_f ? META_F : 0u) |
           (strided ? META_STRIDED : 0u);
}

struct Key {
    u32 root;              // rank * 2 + wide
    u32 words;
    u64 sym[MAX_LEVELS];   // words in pairs; an odd last word is padded with 0

    u32 levels() const { return (words + 1) >> 1; }
    u32 word(u32 i) const { return static_cast<u32>(sym[i >> 1] >> (32 * (i & 1))); }
    void set_word(u32 i, u32 value) {
        const int shift = 32 * (i & 1);
        sym[i >> 1] = shift ? (sym[i >> 1] & 0xFFFFFFFFu) | static_cast<u64>(value) << 32 : value;
    }
};

inline u32 rank_of(u32 root) { return root >> 1; }
inline u32 width_of(u32 root) { return 1 + (root & 1); }          // words a dim
inline u32 meta_at(u32 root) { return rank_of(root) * width_of(root); }
inline u32 words_of(u32 root, u32 meta) { return meta_at(root) + 1 + (meta & META_STRIDED ? meta_at(root) : 0); }

enum class Fault { none, rank, negative };

// The general encoding; `dims` are not negative, `strides` is null for the contiguous layout of the order.
inline Fault encode_any(Key& key, int rank, const i64* dims, const i64* strides, u32 meta) {
    bool wide = false;
    for (int i = 0; i < rank; ++i) {
        if (dims[i] < 0) return Fault::negative;
        wide |= (dims[i] >> 32) != 0;
        if (strides) wide |= strides[i] != static_cast<std::int32_t>(strides[i]);
    }
    key.root = static_cast<u32>(rank) * 2 + wide;
    u32 n = 0;
    const auto put = [&](i64 value) {
        key.set_word(n++, static_cast<u32>(value));
        if (wide) key.set_word(n++, static_cast<u32>(static_cast<u64>(value) >> 32));
    };
    for (int i = 0; i < rank; ++i) put(dims[i]);
    key.set_word(n++, meta);
    if (strides)
        for (int i = 0; i < rank; ++i) put(strides[i]);
    key.words = n;
    return Fault::none;
}

// Dims and strides back from the words of a key.
inline i64 item_of(const Key& key, u32 at, int i) {
    if (width_of(key.root) == 2) {
        const u32 j = at + 2 * static_cast<u32>(i);
        return static_cast<i64>(key.word(j) | static_cast<u64>(key.word(j + 1)) << 32);
    }
    return key.word(at + static_cast<u32>(i));
}
inline i64 dim_of(const Key& key, int i) { return item_of(key, 0, i); }
inline i64 stride_of(const Key& key, int i) {
    const i64 s = item_of(key, meta_at(key.root) + 1, i);
    return width_of(key.root) == 2 ? s : static_cast<std::int32_t>(s);
}
inline u32 meta_of(const Key& key) { return key.word(meta_at(key.root)); }

// `meta`: make_meta(...), strided exactly if there are strides.
inline Fault encode(Key& key, int rank, const i64* dims, const i64* strides, u32 meta) {
    if (rank < 0 || rank > MAX_RANK) return Fault::rank;
    if (strides != nullptr) return encode_any(key, rank, dims, strides, meta);
    if (__builtin_expect(rank > SHORT_RANK, 0)) return encode_any(key, rank, dims, nullptr, meta);
    // The encoding of nearly all shapes, without a branch on the rank, which is unpredictable: a misprediction costs
    // more than all of this. Missing dims are read from the first position and masked.
    static constexpr i64 none = 0;
    const i64* const from = rank ? dims : &none;
    u64 v[SHORT_RANK + 1], high = 0;
    for (int i = 0; i < SHORT_RANK; ++i) {
        const bool there = i < rank;
        v[i] = static_cast<u64>(from[there ? i : 0]) & (u64(0) - there);
        high |= v[i];
    }
    v[SHORT_RANK] = 0;
    if (__builtin_expect(high >> 32 != 0, 0)) return encode_any(key, rank, dims, nullptr, meta);
    for (int i = 0; i <= SHORT_RANK; i += 2) key.sym[i / 2] = v[i] | v[i + 1] << 32;
    key.sym[rank >> 1] |= static_cast<u64>(meta) << (32 * (rank & 1));
    key.root = static_cast<u32>(rank) * 2;
    key.words = static_cast<u32>(rank) + 1;
    return Fault::none;
}

// The hash of a prefix: folded multiplication (as in wyhash), one step a symbol. It depends on values only, never on
// node ids.
inline u64 fold(u64 a, u64 b) {
    const unsigned __int128 p = static_cast<unsigned __int128>(a) * b;
    return static_cast<u64>(p) ^ static_cast<u64>(p >> 64);
}
inline u64 hash_root(u32 root) { return 0x2D358DCCAA6C78A5ull * (2 * root + 3); }
inline u64 hash_next(u64 hash, u64 symbol) { return fold(hash ^ symbol, 0x9E3779B97F4A7C15ull); }

// The hash of a whole key. The first four symbols, 0 if missing, enter in parallel: a short key takes two independent
// multiplications.
inline u64 hash_whole(u32 root, u64 s0, u64 s1, u64 s2, u64 s3) {
    const unsigned __int128 p = static_cast<unsigned __int128>(s0 ^ hash_root(root)) * (s1 ^ 0xA0761D6478BD642Full);
    const unsigned __int128 q = static_cast<unsigned __int128>(s2 ^ 0xE7037ED1A0B428DBull) * (s3 ^ 0x8EBC6AF09C88C6E3ull);
    return static_cast<u64>(p ^ q) ^ static_cast<u64>((p ^ q) >> 64);
}
inline u64 hash_whole(const Key& key) {
    const u32 levels = key.levels();
    const auto at = [&](u32 i) { return i < levels ? key.sym[i] : 0; };
    u64 hash = hash_whole(key.root, at(0), at(1), at(2), at(3));
    for (u32 i = 4; i < levels; ++i) hash = hash_next(hash, key.sym[i]);
    return hash;
}

// The stripe of a key: one of 2^bits, by the first symbol alone, so that each subtree below a root has one lock.
inline u32 stripe_number(u32 root, u64 s0, int bits) {
    return static_cast<u32>((s0 ^ hash_root(root)) * 0x9E3779B97F4A7C15ull >> (64 - bits));
}

}  // namespace workbench::trie
