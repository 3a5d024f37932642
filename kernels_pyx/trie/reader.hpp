// Reading without locks.
//
// A walk goes from the root by hashed edges, symbol by symbol, and checks each object by its contents and its header. It
// announces nothing and writes nothing but a count of its own thread. What makes that right:
//
//   an object's parent and words never change while its header stays; each reuse of its place has another generation
//   an edge is published after all that lies below it; a split is one store to the slot of an edge (writer.hpp)
//   a hit holds if, at its end, the headers of the record and of the nodes above it are those that were seen
//   a miss holds if, at its end, the table and the headers of the nodes on the way are those that were seen
//
// otherwise the walk starts again. A hit takes effect at the last look at the record's header, a miss at its last slot.
// The generation has 21 bits: a walk would have to sleep while one place is used two million times, with 16 others between
// any two uses, and wake up to the same generation.
#pragma once

#include "core.hpp"

namespace workbench::trie {

// Masks for the first n of 8 words.
constexpr u64 WHOLE = ~u64(0), HALF = 0xFFFFFFFF;
constexpr u64 tail_masks[9][4] = {
    {0, 0, 0, 0}, {HALF, 0, 0, 0}, {WHOLE, 0, 0, 0}, {WHOLE, HALF, 0, 0}, {WHOLE, WHOLE, 0, 0},
    {WHOLE, WHOLE, HALF, 0}, {WHOLE, WHOLE, WHOLE, 0}, {WHOLE, WHOLE, WHOLE, HALF}, {WHOLE, WHOLE, WHOLE, WHOLE},
};

class Reader : public Core {
  public:
    using Core::Core;

    // Id of a key, 0 if it is not there. Takes no reference: the id holds as long as somebody has one.
    u32 lookup(const Key& key) {
        u64 state;
        const u32 id = find(key, state);
        if (__builtin_expect(id == 0, 0)) {
            counters_.miss();
            return 0;
        }
        counters_.hit();
        if (capacity_ != 0) touch(id, state);
        return id;
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

    // Two steps that a bulk lookup makes ahead of time: the slots of a key, then the objects that they name.
    void fetch_slots(const Key& key) const {
        each_bucket(key, [](const u64* bucket, u32) { __builtin_prefetch(bucket); });
    }
    void fetch_objects(const Key& key) const {
        each_bucket(key, [this](const u64* bucket, u32 tag) {
            const u32 bits = match(bucket, tag).tag;
            if (bits) __builtin_prefetch(arena_.at(static_cast<u32>(relaxed(bucket[__builtin_ctz(bits)]))));
        });
    }

  protected:
    // The id of a key and the state in which its record was seen; counts nothing.
    u32 find(const Key& key, u64& state) const {
        struct { u32 id, header; } path[MAX_LEVELS + 1];       // path[l]: the node above level l
        const u32 levels = key.levels();
        const u64 first = hash_next(hash_root(key.root), key.sym[0]);
        const u64& table = table_of(first);
        for (;;) {
            const u64 word = acquire(table);
            const Table t = Table::of(word);
            path[0].id = root_owner(key.root);
            u32 level = 0;
            u64 hash = first;
            u32 tag = tag_of(hash);
            u64 bucket = t.place(tag);
            for (;;) {
                const Match found = match(t.slots + bucket, tag);
                u32 down = 0;                                  // the node to go on from
                for (u32 bits = found.tag; bits != 0; bits &= bits - 1) {
                    const u32 id = static_cast<u32>(acquire(t.slots[bucket + static_cast<u32>(__builtin_ctz(bits))]));
                    const Object* o = arena_.at(id);
                    const u64 seen = acquire(o->state);
                    const u32 header = header_of(seen);
                    if (id & NODE_ID) {
                        if ((header & (LIVE | NODE)) == (LIVE | NODE) && relaxed(o->parent) == path[level].id &&
                            symbol(o, 0) == key.sym[level] && level + 1 < levels) {
                            path[level + 1] = {id, header};
                            down = id;
                            break;
                        }
                    } else if (const u32 from = level_of(header);
                               from <= level && is_record(id, header) && relaxed(o->parent) == path[from].id &&
                               equal_tail(o, from, key)) {
                        bool good = same(o, header);
                        for (u32 l = from; l > 0; --l) good &= same(arena_.at(path[l].id), path[l].header);
                        if (__builtin_expect(!good, 0)) goto again;
                        state = seen;
                        return id;
                    }
                }
                if (down != 0) {
                    hash = hash_next(hash, key.sym[++level]);
                    tag = tag_of(hash);
                    bucket = t.place(tag);
                } else if (found.empty != 0) {
                    bool good = true;
                    for (u32 l = level; l > 0; --l) good &= same(arena_.at(path[l].id), path[l].header);
                    __atomic_thread_fence(__ATOMIC_ACQUIRE);
                    if (!good || relaxed(table) != word) goto again;
                    return 0;
                } else {
                    bucket = t.next(bucket);
                }
            }
        again:;
        }
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
#ifndef WORKBENCH_TRIE_TSAN                                    // which would see the neighbour being written
        if (__builtin_expect(words <= 8, 1)) {
            // All at once, whatever their number: what lies behind the record is read (the arena has slack) and masked.
            const u64* m = tail_masks[words];
            return (((pair(w) ^ s[0]) & m[0]) | ((pair(w + 2) ^ s[1]) & m[1]) | ((pair(w + 4) ^ s[2]) & m[2]) |
                    ((pair(w + 6) ^ s[3]) & m[3])) == 0;
        }
#endif
        const u32 whole = words >> 1;
        for (u32 i = 0; i < whole; ++i, w += 2)
            if (pair(w) != s[i]) return false;
        return !(words & 1) || relaxed(w[0]) == static_cast<u32>(s[whole]);
    }

    // The key of a record from its words and the nodes above it. False if what is there makes no sense, because the record
    // is being reclaimed; sense alone is no proof (see `same`).
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

    // Second chance of the bounded mode; written only when it is not set yet.
    void touch(u32 id, u64 state) {
        if (!(header_of(state) & USED)) __atomic_fetch_or(&arena_.at(id)->state, make_state(USED, 0), __ATOMIC_RELAXED);
    }

  private:
    template <class F> void each_bucket(const Key& key, F&& visit) const {
        u64 hash = hash_next(hash_root(key.root), key.sym[0]);
        const Table t = Table::of(acquire(table_of(hash)));
        for (u32 level = 0;;) {
            visit(t.slots + t.place(tag_of(hash)), tag_of(hash));
            if (++level >= key.levels() || level == 3) return;
            hash = hash_next(hash, key.sym[level]);
        }
    }
};

}  // namespace workbench::trie
