// Building, under the lock of the stripe: descent by edges, insertion, splits, and the lists of children.
#pragma once

#include "reader.hpp"

namespace workbench::trie {

class Builder : public Reader {
  public:
    using Reader::Reader;

  protected:
    // Adds a reference to the record from which `state` was read; false if it has been removed.
    bool raise(u32 id, u64 state) {
        Object* o = arena_.at(id);
        const u32 header = header_of(state) & ~USED;
        while ((header_of(state) & ~USED) == header) {
            const u32 count = static_cast<u32>(state);
            if (count == STICKY) return true;
            const u64 more = (state + 1) | (capacity_ ? make_state(USED, 0) : 0);
            if (swap(o->state, state, more)) {
                if (count == 0) __atomic_fetch_sub(&idle_, 1, __ATOMIC_RELAXED);
                return true;
            }
        }
        return false;
    }

    // The end of a key's descent: the node above, and the child at the edge of the key's symbol there (0: none).
    struct Walk {
        u32 owner, level, child;
        u32 path[MAX_LEVELS + 1];
        u64 hash[MAX_LEVELS + 1];                  // of the prefix that ends with the level
    };

    // Descends through all nodes that the key shares; stops at a record or at a missing edge.
    void walk(const Stripe& stripe, const Key& key, Walk& w) const {
        w.path[0] = w.owner = root_owner(key.root);
        w.level = 0;
        w.hash[0] = hash_next(hash_root(key.root), key.sym[0]);
        while (w.child = edge(stripe, key, w), (w.child & NODE_ID) != 0) {
            w.path[++w.level] = w.owner = w.child;
            w.hash[w.level] = hash_next(w.hash[w.level - 1], key.sym[w.level]);
        }
    }

    u32 edge(const Stripe& stripe, const Key& key, const Walk& w) const {
        const Table t = Table::of(stripe.table);
        const u64 hash = w.hash[w.level];
        u32 record = 0;
        for (u64 bucket = t.place(tag_of(hash));; bucket = t.next(bucket)) {
            const Match found = match(t.slots + bucket, tag_of(hash));
            for (u32 bits = found.tag; bits != 0; bits &= bits - 1) {
                const u32 id = static_cast<u32>(relaxed(t.slots[bucket + static_cast<u32>(__builtin_ctz(bits))]));
                if (id == 0) continue;
                const Object* o = arena_.at(id);
                const u32 header = header_of(relaxed(o->state)), from = level_of(header);
                if (header & NODE) {
                    if (o->parent == w.owner && symbol(o, 0) == key.sym[w.level]) return id;
                } else if (from <= w.level && o->parent == w.path[from] && first_difference(o, from, key) > w.level) {
                    // Two edges with equal tags by chance: a node decides, because a record may match above its edge.
                    record = id;
                }
            }
            if (found.empty) return record;
        }
    }

    // The first level at which a record's symbols differ from the key's; the key's number of levels if none does.
    u32 first_difference(const Object* o, u32 from, const Key& key) const {
        u32 level = from;
        for (; level < key.levels(); ++level)
            if (symbol_at(o, from, level, key) != key.sym[level]) break;
        return level;
    }
    // A record's symbol at a level that both it and the key reach (no key is a prefix of another).
    static u64 symbol_at(const Object* o, u32 from, u32 level, const Key& key) {
        const u32 i = 2 * (level - from), meta = meta_at(key.root);
        const bool last = 2 * level + 1 >= words_of(key.root, meta < 2 * from ? key.word(meta) : o->w[meta - 2 * from]);
        return last ? o->w[i] : symbol(o, i);
    }

    u32 insert(Stripe& stripe, const Key& key, bool& fresh) {
        u64 grown = 0;
        const bool room = stripe.reserve(key.levels() + 1, edge_tables_, leaf_tables_, grown);
        if (grown) count_bytes(static_cast<i64>(grown));
        if (!room) return 0;
        Walk w;
        walk(stripe, key, w);
        u32 split = w.level;                       // level of the new record
        if (w.child != 0) {
            Object* o = arena_.at(w.child);
            split = first_difference(o, level_of(header_of(relaxed(o->state))), key);
            if (split == key.levels()) {
                const u64 state = acquire(o->state);
                return raise(w.child, state) ? w.child : 0;
            }
        }
        // All allocations first, so that nothing must be undone when memory runs out.
        const u32 steps = steps_of(key.words - 2 * split);
        const u32 place = stripe.places.take(steps);
        u32 nodes[MAX_LEVELS + 1];
        u32 made = 0;
        for (u32 level = w.level; place != 0 && level < split; ++level, ++made)
            if ((nodes[made] = stripe.places.take(NODE_STEPS)) == 0) break;
        if (place == 0 || made < split - w.level) {
            while (made > 0) stripe.places.give(nodes[--made], NODE_STEPS);
            if (place != 0) stripe.places.give(place, steps);
            return 0;
        }
        // Nodes for what the two keys share, from above; each is the child of the one before.
        u32 owner = w.owner;
        u64 hash = w.hash[w.level];
        u32 top = 0;
        for (u32 level = w.level; level < split; ++level) {
            const u32 id = nodes[level - w.level] = make_node(nodes[level - w.level], owner, level, key.sym[level]);
            if (level == w.level) {
                top = id;
                unlink(stripe, owner, w.child);
            } else {
                stripe.put(hash, id);
            }
            link(stripe, owner, id);
            owner = id;
            if (level + 1 < split) hash = hash_next(hash, key.sym[level + 1]);
        }
        if (top != 0) {
            const Object* o = arena_.at(w.child);
            stripe.put(hash_next(hash, symbol_at(o, level_of(header_of(relaxed(o->state))), split, key)), w.child);
            link(stripe, owner, w.child);
            hash = hash_next(hash, key.sym[split]);
        }
        const u32 id = make_record(place, owner, split, key);
        link(stripe, owner, id);
        stripe.put(hash, id);
        if (top != 0) set_relaxed(*stripe.slot_of(w.hash[w.level], w.child), make_slot(tag_of(w.hash[w.level]), top));
        // Everything is complete; readers find the record from here on.
        stripe.put_leaf(hash_whole(key), id);
        ++stripe.entries;
        __atomic_fetch_add(&nodes_, split - w.level, __ATOMIC_RELAXED);
        count_bytes(static_cast<i64>(STEP) * (steps + (split - w.level) * NODE_STEPS));
        count_entries(1);
        fresh = true;
        return id;
    }

    u32 begin(u32 place, u32 owner, u32& header, u32 kind, u32 level) {
        Object* o = arena_.at(place);
        const u32 generation = (header_of(relaxed(o->state)) >> GENERATION) + 1;
        header = generation << GENERATION | kind | LIVE | level;
        // Already dead by its header; the new contents are written after the last header that readers may have seen.
        __atomic_thread_fence(__ATOMIC_RELEASE);
        set_relaxed(o->parent, owner);
        o->next = o->prev = 0;
        return make_id(header, place);
    }
    u32 make_node(u32 place, u32 owner, u32 level, u64 symbol) {
        u32 header;
        const u32 id = begin(place, owner, header, NODE, level);
        Object* o = arena_.at(id);
        set_relaxed(o->w[0], static_cast<u32>(symbol));
        set_relaxed(o->w[1], static_cast<u32>(symbol >> 32));
        set_relaxed(o->w[2], 0u);
        set_release(o->state, make_state(header, 0));
        return id;
    }
    u32 make_record(u32 place, u32 owner, u32 level, const Key& key) {
        u32 header;
        const u32 id = begin(place, owner, header, 0, level);
        Object* o = arena_.at(id);
        for (u32 i = 2 * level; i < key.words; ++i) set_relaxed(o->w[i - 2 * level], key.word(i));
        set_release(o->state, make_state(header, 1));
        arena_.mark(id, true);
        return id;
    }

    u32& first_child(Stripe& stripe, u32 owner) {
        return is_root(owner) ? stripe.head(owner - 1) : arena_.at(owner)->w[2];
    }
    void count_children(u32 owner, i64 change) {
        if (!is_root(owner)) __atomic_fetch_add(&arena_.at(owner)->state, static_cast<u64>(change), __ATOMIC_RELAXED);
    }
    void link(Stripe& stripe, u32 owner, u32 id) {
        u32& head = first_child(stripe, owner);
        Object* o = arena_.at(id);
        o->prev = 0;
        o->next = head;
        if (head) arena_.at(head)->prev = id;
        set_relaxed(head, id);
        count_children(owner, 1);
    }
    void unlink(Stripe& stripe, u32 owner, u32 id) {
        const Object* o = arena_.at(id);
        if (o->prev) arena_.at(o->prev)->next = o->next;
        else set_relaxed(first_child(stripe, owner), o->next);
        if (o->next) arena_.at(o->next)->prev = o->prev;
        count_children(owner, -1);
    }
};

}  // namespace workbench::trie
