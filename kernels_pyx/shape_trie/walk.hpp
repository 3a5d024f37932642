// Walks over whole subtrees, one stripe at a time under its lock: prefix queries, the contents, and a check of everything.
#pragma once

#include <cstdlib>

#include "short.hpp"

namespace workbench::trie {

// A growing array on malloc, for results whose size is not known.
template <class T> class Buffer {
  public:
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }
    T* data() const { return data_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) const { return data_[i]; }
    void add(const T& item) { *add_many(1) = item; }
    T* add_many(std::size_t n) {
        if (size_ + n > room_) {
            std::size_t room = room_ * 2 > size_ + n ? room_ * 2 : size_ + n;
            room = room < 64 ? 64 : room;
            T* data = static_cast<T*>(std::realloc(static_cast<void*>(data_), room * sizeof(T)));
            if (data == nullptr) throw std::bad_alloc();
            data_ = data;
            room_ = room;
        }
        size_ += n;
        return data_ + size_ - n;
    }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0, room_ = 0;
};

class Walker : public ShortReader {
  public:
    using ShortReader::ShortReader;

    // Ids of all shapes whose first dims are these (any rank, dtype, order and strides); at most `limit`.
    void prefix(int count, const i64* dims, std::size_t limit, Buffer<u32>& ids) {
        each(count, dims, [&](u32 id, u32, const Key&) {
            if (ids.size() < limit) ids.add(id);
            return ids.size() < limit;
        });
    }

    // Calls visit(id, references, key) for each shape that begins with these dims, until it returns false. A stripe is
    // locked while its shapes are visited: the visitor must be quick and must not call the trie.
    template <class F> void each(int count, const i64* dims, F&& visit) {
        if (count > MAX_RANK) return;
        bool narrow = true;
        for (int i = 0; i < count; ++i) narrow &= (dims[i] >> 32) == 0;
        for (u32 root = 2 * static_cast<u32>(count); root < ROOTS; ++root) {
            if (!(root & 1) && !narrow) continue;
            Key key;
            key.root = root;
            key.words = 0;
            const u32 width = width_of(root), fixed = static_cast<u32>(count) * width;
            for (int i = 0; i < count; ++i)
                for (u32 j = 0; j < width; ++j)
                    key.set_word(i * width + j, static_cast<u32>(static_cast<u64>(dims[i]) >> (32 * j)));
            // A complete first symbol determines the stripe.
            const bool one = fixed >= 2;
            const u32 only = one ? stripe_number(root, key.sym[0], STRIPE_BITS) : 0;
            for (u32 i = one ? only : 0; i < (one ? only + 1 : STRIPES); ++i) {
                Stripe& stripe = stripes_[i];
                const std::lock_guard<std::mutex> hold(stripe.mutex);
                if (stripe.head_or_none(root) && !from_root(stripe, key, fixed, visit)) return;
            }
        }
    }

    // Checks the whole structure against its rules; 0, or the number of the violated rule. There must be no writes
    // meanwhile.
    int check() {
        u64 entries = 0, nodes = 0;
        for (u32 i = 0; i < STRIPES; ++i) {
            Stripe& stripe = stripes_[i];
            const std::lock_guard<std::mutex> hold(stripe.mutex);
            u64 edges = 0, records = 0;
            for (u32 root = 0; root < ROOTS; ++root) {
                Key key;
                key.root = root;
                const int fault = check_children(stripe, root_owner(root), stripe.head_or_none(root), 0, key, edges, records);
                if (fault) return fault;
            }
            if (edges != stripe.edges) return 1;               // every edge is in the table, and no other
            if (records != stripe.entries) return 2;
            const Table t = Table::of(stripe.table);
            u64 filled = 0;
            for (u64 at = 0; at < t.size(); ++at) filled += t.slots[at] != 0;
            if (filled != stripe.filled) return 3;
            if (Leaves::of(stripe.leaves).filled() != stripe.leaves_filled) return 6;
            entries += records;
            nodes += edges - records;
        }
        return entries != entries_ ? 4 : nodes != nodes_ ? 5 : 0;
    }

  private:
    // Descends the complete symbols of a prefix by the table, then visits the children.
    template <class F> bool from_root(Stripe& stripe, Key& key, u32 fixed, F&& visit) {
        const Key wanted = key;
        Walk w;
        w.path[0] = w.owner = root_owner(key.root);
        w.level = 0;
        w.hash[0] = hash_next(hash_root(key.root), key.sym[0]);
        while (2 * w.level + 2 <= fixed) {
            key.words = 2 * w.level + 2;                       // the record may differ after the prefix
            const u32 child = edge(stripe, key, w);
            if (child == 0) return true;
            if (!(child & NODE_ID)) return one(child, w.level, key, wanted, fixed, visit);
            w.path[++w.level] = w.owner = child;
            w.hash[w.level] = 2 * w.level + 2 <= fixed ? hash_next(w.hash[w.level - 1], key.sym[w.level]) : 0;
        }
        return over(stripe, w.owner, w.level, key, wanted, fixed, visit);
    }

    template <class F>
    bool over(Stripe& stripe, u32 owner, u32 level, Key& key, const Key& wanted, u32 fixed, F&& visit) {
        for (u32 id = is_root(owner) ? stripe.head_or_none(owner - 1) : arena_.at(owner)->w[2]; id != 0;) {
            const Object* o = arena_.at(id);
            const u32 next = o->next;
            if (!(id & NODE_ID)) {
                if (!one(id, level, key, wanted, fixed, visit)) return false;
            } else if (agrees(o->w, 2 * level, 2, wanted, fixed)) {
                key.sym[level] = symbol(o, 0);
                if (!over(stripe, id, level + 1, key, wanted, fixed, visit)) return false;
            }
            id = next;
        }
        return true;
    }

    template <class F>
    bool one(u32 id, u32 level, const Key& above, const Key& wanted, u32 fixed, F&& visit) {
        const Object* o = arena_.at(id);
        const u32 from = level_of(header_of(relaxed(o->state))), meta = meta_at(above.root);
        if (!agrees(o->w, 2 * from, fixed > 2 * from ? fixed - 2 * from : 0, wanted, fixed)) return true;
        Key key;
        key.root = above.root;
        std::memcpy(key.sym, above.sym, sizeof(u64) * (level > from ? from : level));
        const u32 word = meta < 2 * from ? above.word(meta) : o->w[meta - 2 * from];
        finish_key(o, from, words_of(key.root, word), key);
        return visit(id, static_cast<u32>(relaxed(o->state)), static_cast<const Key&>(key));
    }

    static bool agrees(const u32* words, u32 first, u32 count, const Key& wanted, u32 fixed) {
        for (u32 i = 0; i < count && first + i < fixed; ++i)
            if (words[i] != wanted.word(first + i)) return false;
        return true;
    }

    int check_children(Stripe& stripe, u32 owner, u32 head, u32 level, Key& key, u64& edges, u64& records) {
        u32 before = 0, count = 0;
        for (u32 id = head; id != 0; before = id, id = arena_.at(id)->next, ++count) {
            const Object* o = arena_.at(id);
            const u64 state = relaxed(o->state);
            const u32 header = header_of(state), from = level_of(header);
            if (o->prev != before) return 10;
            if (!(header & LIVE) || make_id(header, id & PLACE_MASK) != id) return 11;
            ++edges;
            if (header & NODE) {
                if (o->parent != owner || from != level || o->w[2] == 0) return 12;
                key.sym[level] = symbol(o, 0);
                const int fault = check_children(stripe, id, o->w[2], level + 1, key, edges, records);
                if (fault) return fault;
                if (count_of(o->w[2]) != static_cast<u32>(state)) return 13;
                if (!has_edge(stripe, key, level, id)) return 14;
            } else {
                ++records;
                Key whole;
                if (!arena_.marked(id) || !read_key(o, header, whole)) return 15;
                if (from > level || whole.root != key.root) return 16;
                for (u32 l = 0; l < level; ++l)
                    if (whole.sym[l] != key.sym[l]) return 17;
                if (find(whole).id != id) return 18;
                if (!has_edge(stripe, whole, level, id)) return 19;
            }
        }
        return 0;
    }
    u32 count_of(u32 id) const {
        u32 n = 0;
        for (; id != 0; id = arena_.at(id)->next) ++n;
        return n;
    }
    static bool has_edge(const Stripe& stripe, const Key& key, u32 level, u32 id) {
        u64 hash = hash_root(key.root);
        for (u32 l = 0; l <= level; ++l) hash = hash_next(hash, key.sym[l]);
        const Table t = Table::of(stripe.table);
        for (u64 bucket = t.place(tag_of(hash)), n = 0; n < t.size(); bucket = t.next(bucket), n += BUCKET) {
            for (u32 i = 0; i < BUCKET; ++i)
                if (t.slots[bucket + i] == make_slot(tag_of(hash), id)) return true;
            if (match(t.slots + bucket, 0).empty) return false;
        }
        return false;
    }
};

}  // namespace workbench::trie
