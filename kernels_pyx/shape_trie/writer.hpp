// Writing: references, reclaiming, eviction; changes of the structure require the lock of the stripe.
//
// Two modes. Unbounded (capacity 0): a record whose count falls to 0 is reclaimed at once, with the nodes and edges
// that only it needed. Bounded: it stays, and if there are more entries than the capacity, those of count 0 are evicted
// by the CLOCK rule (those found since the hand's last visit get a second chance); entries in use stay, even beyond the
// capacity. A count is changed by a compare-and-swap on count and header together, so it cannot affect another user of
// the same place.
#pragma once

#include "builder.hpp"

namespace workbench::trie {

class Writer : public Builder {
  public:
    using Builder::Builder;

    // Id of a key with an added reference, created if it is missing; 0 without memory.
    u32 intern(const Key& key) {
        const Found found = find(key);
        u32 id = static_cast<u32>(found.id);
        if (id == 0 || !raise(id, found.state)) {
            Stripe& stripe = stripe_of(key);
            bool fresh = false;
            {
                const std::lock_guard<std::mutex> hold(stripe.mutex);
                id = insert(stripe, key, fresh);
            }
            if (fresh) {
                counters_.miss();
                if (capacity_ != 0) trim();
                return id;
            }
            if (id == 0) return 0;
        }
        counters_.hit();
        return id;
    }

    enum class Released { no_such_id, in_use, idle, reclaimed };

    // Releases one reference.
    Released release(u32 id) {
        if (!arena_.marked(id)) return Released::no_such_id;
        Object* o = arena_.at(id);
        u64 state = acquire(o->state);
        for (;;) {
            const u32 count = static_cast<u32>(state), header = header_of(state);
            if (!is_record(id, header) || count == 0) return Released::no_such_id;
            if (count == STICKY) return Released::in_use;
            if (count == 1 && capacity_ == 0) {
                // The last reference: only under the lock, because the record is removed with it.
                Key key;
                if (read_key(o, header, key) && same(o, header)) {
                    Stripe& stripe = stripe_of(key);
                    const std::lock_guard<std::mutex> hold(stripe.mutex);
                    if (reclaim(stripe, id, key, state)) return Released::reclaimed;
                }
                state = acquire(o->state);
                continue;
            }
            if (count == 1) __atomic_fetch_add(&idle_, 1, __ATOMIC_RELAXED);
            if (swap(o->state, state, state - 1)) {
                if (count > 1) return Released::in_use;
                trim();
                return Released::idle;
            }
            if (count == 1) __atomic_fetch_sub(&idle_, 1, __ATOMIC_RELAXED);
        }
    }

  protected:
    // Removes a record if its state is still `state`, and every node above it without another child.
    bool reclaim(Stripe& stripe, u32 id, const Key& key, u64 state) {
        Object* o = arena_.at(id);
        const u32 header = header_of(state);
        if (!swap(o->state, state, make_state(header & ~(LIVE | USED), 0))) return false;
        arena_.mark(id, false);
        Walk w;
        walk(stripe, key, w);
        stripe.erase_leaf(hash_whole(key), id);
        stripe.erase(w.hash[w.level], id);
        unlink(stripe, w.owner, id);
        const u32 steps = steps_of(key.words - 2 * level_of(header));
        stripe.places.give(id & PLACE_MASK, steps);
        u32 gone = 0;
        while (!is_root(w.owner) && static_cast<u32>(relaxed(arena_.at(w.owner)->state)) == 0) {
            Object* node = arena_.at(w.owner);
            const u32 dead = header_of(relaxed(node->state)) & ~(LIVE | NODE);
            const u32 above = node->parent;
            set_release(node->state, make_state(dead, 0));
            stripe.erase(w.hash[--w.level], w.owner);
            unlink(stripe, above, w.owner);
            stripe.places.give(w.owner & PLACE_MASK, NODE_STEPS);
            w.owner = above;
            ++gone;
        }
        --stripe.entries;
        u64 shrunk = 0;
        stripe.shrink(edge_tables_, leaf_tables_, shrunk);
        __atomic_fetch_sub(&nodes_, gone, __ATOMIC_RELAXED);
        count_entries(-1);
        count_bytes(static_cast<i64>(shrunk) - static_cast<i64>(STEP) * (steps + gone * NODE_STEPS));
        return true;
    }

    // Evicts idle records until the entries fit; at most two turns of the hand, because the others may be in use.
    void trim() {
        u64 left = 2 * STRIPES + 2;
        while (relaxed(entries_) > capacity_ && relaxed(idle_) > 0 && left > 0) {
            Stripe& stripe = stripes_[__atomic_fetch_add(&cursor_, 1, __ATOMIC_RELAXED) & (STRIPES - 1)];
            const std::lock_guard<std::mutex> hold(stripe.mutex);
            if (stripe.entries == 0 || !evict_one(stripe)) --left;
        }
    }

    // Turns the hand of a stripe until a record of count 0 is evicted; false if there is none in one turn, or 256
    // slots. The next call continues from there, so a cache full of entries in use takes a bounded time per insertion;
    // and at most one turn, so that a second chance lasts until the hand has visited all stripes.
    bool evict_one(Stripe& stripe) {
        const Table t = Table::of(stripe.table);
        const u64 limit = t.size() < 256 ? t.size() : 256;
        for (u64 seen = 0; seen < limit; ++seen) {
            const u32 id = static_cast<u32>(relaxed(t.slots[stripe.hand++ & (t.size() - 1)]));
            if (id == 0) continue;
            Object* o = arena_.at(id);
            u64 state = acquire(o->state);
            if ((header_of(state) & NODE) || static_cast<u32>(state) != 0) continue;
            if (header_of(state) & USED) {
                swap(o->state, state, state & ~make_state(USED, 0));
                continue;
            }
            Key key;
            read_key(o, header_of(state), key);
            if (!reclaim(stripe, id, key, state)) continue;
            __atomic_fetch_sub(&idle_, 1, __ATOMIC_RELAXED);
            __atomic_fetch_add(&evictions_, 1, __ATOMIC_RELAXED);
            return true;
        }
        return false;
    }
};

}  // namespace workbench::trie
