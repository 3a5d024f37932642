// Reading without locks.
//
// A lookup hashes the whole key, finds the id in the leaf table of the key's stripe, and compares the record with the
// key: its words, and the symbols of the nodes above the place where it was created. It writes nothing except a count
// of its own thread. This is correct because:
//
//   an object's parent and words never change while its header is unchanged; each reuse changes the generation
//   the nodes above a record live as long as the record: a final check of its header covers them too
//   a record is published in the leaf table after all it needs is complete, and is dead before it leaves the table
//   a key moves to another slot only with a new table, or after being removed in between
//   no two tables of a stripe have the same word, because it counts them
//
// So a hit is valid if the record's header at the end equals the first one, and takes effect there; a miss is valid if
// the leaf table equals the first one, and takes effect when its slot was read. Otherwise the search starts again. The
// generation has 21 bits: an error would need a reader suspended while one place is used two million times, with 16
// others between any two uses, until the same generation recurs; the count of tables has 16.
#pragma once

#include "core.hpp"

namespace workbench::trie {

// Masks for words 2 * from to n - 1 of the first 8, by from and n.
struct TailMasks {
    alignas(64) u64 of[4][9][4];
    constexpr TailMasks() : of() {
        for (u32 from = 0; from < 4; ++from)
            for (u32 n = 0; n <= 8; ++n)
                for (u32 i = 2 * from; i < n; ++i) of[from][n][i / 2] |= u64(0xFFFFFFFF) << (32 * (i & 1));
    }
};
inline constexpr TailMasks tail_masks;

class Reader : public Core {
  public:
    using Core::Core;

    // Id of a key, 0 if it is missing. Takes no reference: the id is valid while any reference exists.
    u32 lookup(const Key& key) {
        return answer(find(key));
    }

    // References of an id, -1 if there is no such record.
    i64 refcount(u32 id) const {
        if (!arena_.marked(id)) return -1;
        const u64 state = acquire(arena_.at(id)->state);
        return is_record(id, header_of(state)) ? static_cast<i64>(static_cast<u32>(state)) : -1;
    }

    // The key of an id; false if there is no such record.
    bool get(u32 id, Key& key) const {
        if (!arena_.marked(id)) return false;
        const Object* o = arena_.at(id);
        const u32 header = header_of(acquire(o->state));
        return is_record(id, header) && read_key(o, header, key) && same(o, header);
    }

    // Two prefetch steps of a bulk lookup: the bucket of a key, then the record that it names.
    void fetch_slots(const Key& key) const {
        u32 tag;
        __builtin_prefetch(bucket_of(key, tag));
    }
    void fetch_objects(const Key& key) const {
        u32 tag;
        const LeafBucket* const bucket = bucket_of(key, tag);
        if (const u32 bits = match_tags(bucket->tags, tag).tag) __builtin_prefetch(arena_.at(relaxed(bucket->ids[__builtin_ctz(bits)])));
    }

  protected:
    // The result of a lookup: an id (0: none) and the state of its record. Updates no counts.
    struct Found {
        u64 state, id;                             // two whole registers
    };

    Found find(const Key& key) const {
        const u32 tag = tag_of(hash_whole(key));
        const u64& leaves = leaves_of(key.root, key.sym[0]);
        for (;;) {
            const u64 word = acquire(leaves);
            const Leaves t = Leaves::of(word);
            WORKBENCH_TRIE_STEP(word_read, t.slots());
            for (u64 at = t.place(tag);; at = t.next(at)) {
                const LeafBucket& bucket = t.buckets[at];
                const Match found = match_tags(bucket.tags, tag);
                for (u32 bits = found.tag; bits != 0; bits &= bits - 1) {
                    const u32 id = acquire(bucket.ids[__builtin_ctz(bits)]);
                    const Object* o = arena_.at(id);
                    const u64 seen = acquire(o->state);
                    if (!is_record(id, header_of(seen)) || !is_key(o, header_of(seen), key)) continue;
                    if (__builtin_expect(!same(o, header_of(seen)), 0)) goto again;
                    return {seen, id};
                }
                if (found.empty != 0) {
                    WORKBENCH_TRIE_STEP(empty_seen, t.slots());
                    __atomic_thread_fence(__ATOMIC_ACQUIRE);
                    if (relaxed(leaves) != word) goto again;
                    return {0, 0};
                }
            }
        again:;
        }
    }

    // Whether a record, and the nodes above the place where it was created, have the symbols of the key. The result is
    // valid only if the header is the same afterwards.
    bool is_key(const Object* o, u32 header, const Key& key) const {
        u32 level = level_of(header);
        if (level >= key.levels() || !equal_tail(o, level, key)) return false;
        u32 up = relaxed(o->parent);
        while (level > 0) {
            if (is_root(up)) return false;
            const Object* node = arena_.at(up);
            if (symbol(node, 0) != key.sym[--level]) return false;
            up = relaxed(node->parent);
        }
        return up == root_owner(key.root);
    }

    // Two words at once, at any multiple of 4 bytes.
    static u64 pair(const u32* w) {
#if defined(WORKBENCH_TRIE_TSAN) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
        return relaxed(w[0]) | static_cast<u64>(relaxed(w[1])) << 32;
#else
        struct __attribute__((packed, may_alias)) Unaligned { u64 value; };
        return reinterpret_cast<const volatile Unaligned*>(w)->value;
#endif
    }
    static u64 symbol(const Object* o, u32 i) { return pair(o->w + i); }

    // Whether a record's words are those of the key from `level` on.
    static bool equal_tail(const Object* o, u32 level, const Key& key) {
        const u32* w = o->w;
        const u64* s = key.sym + level;
        const u32 words = key.words - 2 * level;
#ifndef WORKBENCH_TRIE_TSAN                                    // which would see writes to the neighbour
        if (__builtin_expect(words <= 8, 1)) {
            // All at once for any number: memory after the record is read (the arena has slack) and masked.
            const u64* m = tail_masks.of[0][words];
            return (((pair(w) ^ s[0]) & m[0]) | ((pair(w + 2) ^ s[1]) & m[1]) | ((pair(w + 4) ^ s[2]) & m[2]) |
                    ((pair(w + 6) ^ s[3]) & m[3])) == 0;
        }
#endif
        const u32 whole = words >> 1;
        for (u32 i = 0; i < whole; ++i, w += 2)
            if (pair(w) != s[i]) return false;
        return !(words & 1) || relaxed(w[0]) == static_cast<u32>(s[whole]);
    }

    // The key of a record from its words and the nodes above it. False if the content is inconsistent, because the
    // record is being reclaimed; a consistent result must still be validated (see `same`).
    bool read_key(const Object* record, u32 header, Key& key) const {
        u32 level = level_of(header);
        const u32 from = level;
        u32 up = relaxed(record->parent);
        while (!is_root(up)) {
            const Object* node = arena_.at(up);
            if (level == 0) return false;
            key.sym[--level] = symbol(node, 0);
            up = relaxed(node->parent);
        }
        if (level != 0 || up == 0 || up > ROOTS) return false;
        key.root = up - 1;
        const u32 meta = meta_at(key.root);
        if (meta < 2 * from) return finish_key(record, from, words_of(key.root, key.word(meta)), key);
        return finish_key(record, from, words_of(key.root, relaxed(record->w[meta - 2 * from])), key);
    }

    static bool finish_key(const Object* record, u32 from, u32 words, Key& key) {
        if (words <= 2 * from) return false;
        key.words = words;
        for (u32 i = 2 * from; i < words; ++i) key.set_word(i, relaxed(record->w[i - 2 * from]));
        return true;
    }

    // Second chance in the bounded mode; written only if it is not set yet.
    void touch(Found found) {
        if (header_of(found.state) & USED) return;
        __atomic_fetch_or(&arena_.at(static_cast<u32>(found.id))->state, make_state(USED, 0), __ATOMIC_RELAXED);
    }

    u32 answer(Found found) {
        if (__builtin_expect(found.id == 0, 0)) {
            counters_.miss();
            return 0;
        }
        counters_.hit();
        if (capacity_ != 0) touch(found);
        return static_cast<u32>(found.id);
    }

  private:
    const LeafBucket* bucket_of(const Key& key, u32& tag) const {
        tag = tag_of(hash_whole(key));
        const Leaves t = Leaves::of(acquire(leaves_of(key.root, key.sym[0])));
        return t.buckets + t.place(tag);
    }
};

}  // namespace workbench::trie
